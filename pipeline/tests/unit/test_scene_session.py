"""The library's session: the same visits as a worker folds, from bytes or from arrays."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
import pytest

from onlooker_pipeline.frame_time import FrameClock
from onlooker_pipeline.scene_session import SceneSession, find_visits
from onlooker_pipeline.service_call import Call, ComputeError, FrameQuality, Sender, SessionMemory
from onlooker_pipeline.services import scene_analysis
from onlooker_pipeline.visits.fold import close_session, fold_call
from onlooker_pipeline.visits.visit import Visit, decode_visit
from testkit.pictures import empty_wall, on_a_wall, portrait

STARTED_AT = datetime(2026, 5, 4, 9, tzinfo=UTC)
SHOWN = on_a_wall(portrait(), left=200, top=100)
FRAMES = [
    (SHOWN if 2 <= number < 16 else empty_wall(), STARTED_AT + timedelta(seconds=number / 5)) for number in range(22)
]


def as_array(image: bytes) -> Any:
    return cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_ANYCOLOR)


def without_id(visit: Visit) -> tuple[Any, ...]:
    return (
        visit.ended,
        visit.present,
        visit.still,
        visit.looking,
        (visit.age, visit.age_confidence),
        (visit.gender, visit.gender_confidence),
        visit.expression,
        visit.confidence,
    )


def visits_of_worker() -> list[Visit]:
    """As a worker calls the service and folds what it sees."""
    state: Any = None
    clock: FrameClock | None = None
    memory, remembered = SessionMemory(), None
    newest: dict[bytes, Visit] = {}
    for image, taken_at in FRAMES:
        call = Call(
            {"timestamp": taken_at.isoformat(), "store": True},
            {"image": image},
            in_session=True,
            memory=memory,
            arrived_at=taken_at.timestamp() + 0.3,
            sender=Sender(retention_days=36_500),
            clock=clock,
        )
        _, state = scene_analysis.compute(call, state)
        clock = call.time.clock
        remembered, encoded = fold_call(remembered, call.seen, stream_id=7, session="key")
        newest |= {visit.id: visit for visit in map(decode_visit, encoded)}
    newest |= {visit.id: visit for visit in map(decode_visit, close_session(remembered))}
    return list(newest.values())


def test_session_finds_the_visits_that_a_worker_folds() -> None:
    (visit,) = find_visits(FRAMES)
    (folded,) = visits_of_worker()
    assert without_id(visit) == without_id(folded)
    assert visit.ended
    assert visit.gender == "female"


def test_array_gives_what_its_file_gives() -> None:
    (from_file,) = find_visits(FRAMES)
    (from_array,) = find_visits((as_array(image), taken_at) for image, taken_at in FRAMES)
    assert without_id(from_array) == without_id(from_file)


def test_revisions_of_a_visit_rise() -> None:
    session = SceneSession()
    revisions = [visit.revision for image, at in FRAMES for visit in session.add_frame(image, at).visits]
    revisions += [visit.revision for visit in session.close()]
    assert len(revisions) >= 2
    assert all(earlier < later for earlier, later in pairwise(revisions))


def test_what_is_switched_off_is_not_in_visits() -> None:
    session = SceneSession(reads_age=False, reads_gender=False, reads_expression=False)
    (visit,) = find_visits(FRAMES, session)
    assert (visit.age, visit.gender, visit.expression) == (None, None, None)


def test_late_frame_changes_nothing() -> None:
    session = SceneSession()
    for image, taken_at in FRAMES[:8]:
        session.add_frame(image, taken_at)
    late = session.add_frame(empty_wall(), FRAMES[3][1])
    assert late.result["late"] is True
    assert late.visits == []


def test_closed_session_begins_again() -> None:
    session = SceneSession()
    first = find_visits(FRAMES, session)
    assert [without_id(visit) for visit in find_visits(FRAMES, session)] == [without_id(visit) for visit in first]


def test_time_without_an_offset_is_utc() -> None:
    session = SceneSession()
    naive = session.add_frame(SHOWN, datetime(2026, 5, 4, 9))
    assert naive.result["timestamp"] == "2026-05-04T09:00:00+00:00"


def test_damaged_picture_leaves_the_session_as_it_was() -> None:
    session = SceneSession()
    for image, taken_at in FRAMES[:8]:
        session.add_frame(image, taken_at)
    with pytest.raises(ComputeError) as error:
        session.add_frame(SHOWN[:500], FRAMES[8][1])
    assert error.value.code == "bad_image"
    rest = find_visits(FRAMES[8:], session)
    assert [without_id(visit) for visit in rest] == [without_id(visit) for visit in find_visits(FRAMES)]


@pytest.mark.parametrize("pixels", [np.zeros((4, 4)), np.zeros((4, 4, 4), np.uint8), np.zeros((0, 4), np.uint8), "x"])
def test_array_that_is_no_picture_is_refused(pixels: Any) -> None:
    with pytest.raises(ValueError, match="array of uint8"):
        SceneSession().add_frame(pixels, STARTED_AT)


def restored(state: bytes, **options: Any) -> SceneSession:
    session = SceneSession(**options)
    assert session.restore_state(state)
    return session


def test_restored_session_keeps_ids_and_raises_revisions() -> None:
    session = SceneSession()
    published = [visit for image, at in FRAMES[:12] for visit in session.add_frame(image, at).visits]
    (last,) = find_visits(FRAMES[12:], restored(session.export_state()))
    assert last.id == published[-1].id
    assert last.revision > published[-1].revision


@pytest.mark.parametrize("played", [1, 4, 18], ids=["before her", "in view", "gone"])
def test_restored_session_goes_on_as_if_it_had_never_stopped(played: int) -> None:
    session = SceneSession()
    for image, taken_at in FRAMES[:played]:
        session.add_frame(image, taken_at)
    (visit,) = find_visits(FRAMES[played:], restored(session.export_state()))
    (expected,) = find_visits(FRAMES)
    assert without_id(visit) == without_id(expected)


def test_state_has_no_pixels() -> None:
    session = SceneSession()
    for image, taken_at in FRAMES[:8]:
        session.add_frame(image, taken_at)
    assert len(session.export_state()) < 4_000


def test_state_of_another_release_begins_a_new_scene() -> None:
    session = SceneSession()
    assert not session.restore_state(b"\x91\xc4\x01\x00")
    assert not session.restore_state(b"")
    assert len(find_visits(FRAMES, session)) == 1


def test_frames_count_video_as_a_worker_counts_it() -> None:
    session = SceneSession()
    moments = [0.0, 0.2, 0.21, 5.0, 4.0]
    counted = [session.add_frame(empty_wall(), STARTED_AT + timedelta(seconds=at_s)).video_s for at_s in moments]
    assert counted == pytest.approx([1 / 30, 0.2, 1 / 30, 1.0, 0.0])
    assert session.add_frame(empty_wall(), STARTED_AT + timedelta(seconds=4.5)).skipped == "out_of_order"


def test_frame_says_how_well_people_could_be_seen() -> None:
    session = SceneSession()
    assert session.add_frame(empty_wall(), FRAMES[0][1]).quality == FrameQuality(False, [])
    shown = session.add_frame(SHOWN, FRAMES[1][1]).quality
    assert shown is not None
    assert len(shown.face_bins) == 1


def test_idle_session_closes_its_visits_and_begins_a_new_scene() -> None:
    session = SceneSession(idle_s=60)
    for image, taken_at in FRAMES[:14]:
        session.add_frame(image, taken_at)
    assert session.has_people
    after = session.add_frame(empty_wall(), FRAMES[13][1] + timedelta(seconds=61))
    (closed,) = after.visits
    assert closed.ended
    assert after.video_s == pytest.approx(1 / 30)
    assert [event["type"] for event in after.result["events"]] == ["disappearance"]
    assert not session.has_people


def test_clock_of_its_own_need_not_know_the_date() -> None:
    early = datetime(1970, 1, 1, 0, 5, tzinfo=UTC)
    with pytest.raises(ComputeError):
        SceneSession().add_frame(SHOWN, early)
    assert SceneSession(has_own_clock=True).add_frame(SHOWN, early).video_s
