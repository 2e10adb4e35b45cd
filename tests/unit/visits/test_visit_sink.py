"""The sink between a worker and a recorder: bytes in, bytes out, and what a session's end still tells."""

from onlooker.bus.session_store import SessionState
from onlooker.visits.session_end import last_visits
from onlooker_pipeline.visits.fold import close_session, fold_call
from onlooker_pipeline.visits.sightings import Estimate, Seen, SeenFrame, Sighting
from onlooker_pipeline.visits.visit import decode_visit

ANNA = b"a" * 16
START_MS = 1_800_000_000_000


def seen(first: int, last: int, *, unsettled: int = 0, ended: bool = False) -> Seen:
    """Frames by number, five a second, Anna in all of them; the last ones unsettled."""
    frames = [SeenFrame(START_MS + 200 * n, [Sighting(ANNA, still=True, looking=True)]) for n in range(first, last)]
    settled = len(frames) - unsettled
    return Seen(frames[:settled], frames[settled:], {ANNA: Estimate(0.9)}, [ANNA] if ended else [])


def fold(remembered: bytes | None, *calls: Seen) -> tuple[bytes | None, list[bytes]]:
    return fold_call(remembered, calls, stream_id=7, session="key")


def test_a_visit_names_its_stream_and_session() -> None:
    _, messages = fold(None, seen(0, 6))
    visit = decode_visit(messages[0])
    assert (visit.id, visit.stream_id, visit.session, visit.revision) == (ANNA, 7, "key", 1)


def test_of_one_call_only_the_newest_revision_is_published() -> None:
    _, messages = fold(None, seen(0, 30), seen(30, 60))
    assert [decode_visit(message).revision for message in messages] == [2]


def test_closing_folds_the_unsettled_rest() -> None:
    remembered, _ = fold(None, seen(0, 10, unsettled=4))
    closed = [decode_visit(message) for message in close_session(remembered)]
    assert [(visit.ended, visit.revision) for visit in closed] == [(True, 2)]
    assert closed[0].looking == [(START_MS, START_MS + 2_000)]


def test_closing_twice_says_the_same() -> None:
    """A worker and a recorder may both close a session that went silent."""
    remembered, _ = fold(None, seen(0, 10, unsettled=4))
    assert close_session(remembered) == close_session(remembered)


def test_nothing_remembered_closes_nobody() -> None:
    assert close_session(None) == []
    assert close_session(b"\xc1") == []


def test_a_session_that_stores_nothing_remembers_nothing() -> None:
    assert fold(None, Seen([], [], {ANNA: Estimate(0.9)}, [ANNA])) == (None, [])


def test_what_another_release_remembered_begins_anew() -> None:
    _, messages = fold(b"\xc1", seen(0, 6))
    assert decode_visit(messages[0]).revision == 1


def test_the_last_state_of_a_session_tells_what_was_not_published_and_what_is_open() -> None:
    remembered, messages = fold(None, seen(0, 10))
    told = last_visits(SessionState(last_seen=0, visits=remembered, outbox=messages))
    assert [(visit.revision, visit.ended) for visit in told] == [(1, False), (2, True)]
    assert last_visits(SessionState(last_seen=0)) == []
