"""Folding: intervals as the supplement words them, whatever the calls that told them."""

import random
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker_pipeline.visits.fold import (
    Folded,
    close_visits,
    decode_folded,
    encode_folded,
    fold_sightings,
    show_visits,
)
from onlooker_pipeline.visits.intervals import INTERVALS_AT_MOST, add_interval
from onlooker_pipeline.visits.sightings import Estimate, PersonId, Seen, SeenFrame, Sighting
from onlooker_pipeline.visits.visit import Visit, decode_visit, encode_visit
from timeline import intervals_at, join_nearby, looks_of, moments_of

START_MS = 1_800_000_000_000
PEOPLE = [bytes([number]) * 16 for number in (1, 2, 3)]
ANNA, BERT = PEOPLE[:2]
HAPPY, ANGRY = (0.0, 1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0, 0.0)


def sighting(code: int, person: PersonId = ANNA) -> Sighting | None:
    """0 is not in the frame; 1 there; 2 still; 3 looking; 4 both."""
    return Sighting(person, still=code in (2, 4), looking=code in (3, 4)) if code else None


def frames_of(*codes: int, every_ms: int = 200, start_ms: int = START_MS) -> list[SeenFrame]:
    """Frames of Anna alone."""
    found = [sighting(code) for code in codes]
    return [SeenFrame(start_ms + n * every_ms, [one] if one else []) for n, one in enumerate(found)]


def seen(settled: list[SeenFrame], unsettled: list[SeenFrame] | None = None, *, ended: PersonId | None = None) -> Seen:
    return Seen(settled, unsettled or [], {}, [ended] if ended else [])


def visits_of(frames: list[SeenFrame]) -> list[Visit]:
    """The last word on everybody, told in one call and closed."""
    folded, _ = fold_sightings(Folded(7, "key"), seen(frames))
    return close_visits(folded)


def only(visits: list[Visit]) -> Visit:
    assert len(visits) == 1
    return visits[0]


def since_start(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(start - START_MS, end - START_MS) for start, end in intervals]


@dataclass(frozen=True)
class Calls:
    """A session's frames, and the calls in which they are told."""

    frames: list[SeenFrame]
    settled_up_to: list[int]
    noise: random.Random

    def told(self) -> list[Seen]:
        """A frame that is not settled yet may look otherwise for now; who is in it does not change."""
        calls: list[Seen] = []
        before = 0
        for newest, wanted in enumerate(self.settled_up_to, start=1):
            settled = max(wanted, before)
            unsettled = [self._as_it_seems(frame) for frame in self.frames[settled:newest]]
            calls.append(seen(self.frames[before:settled], unsettled))
            before = settled
        return [*calls, seen([], self.frames[before:])]

    def _as_it_seems(self, frame: SeenFrame) -> SeenFrame:
        guesses = [
            msgspec.structs.replace(one, still=self.noise.random() < 0.5, looking=self.noise.random() < 0.5)
            for one in frame.sightings
        ]
        return SeenFrame(frame.at_ms, guesses)


@st.composite
def sessions(draw: st.DrawFn) -> Calls:
    gaps = draw(st.lists(st.one_of(st.integers(5, 40), st.integers(5, 500)), min_size=1, max_size=30))
    times = [START_MS + 10 * sum(gaps[:n]) for n in range(len(gaps) + 1)]
    rows = [draw(st.lists(st.integers(0, 4), min_size=3, max_size=3)) for _ in times]
    frames = [
        SeenFrame(at_ms, [one for code, who in zip(row, PEOPLE, strict=True) if (one := sighting(code, who))])
        for at_ms, row in zip(times, rows, strict=True)
    ]
    settled = [max(newest - draw(st.integers(0, 6)), 0) for newest in range(1, len(frames) + 1)]
    return Calls(frames, settled, random.Random(draw(st.integers())))


@settings(max_examples=300, deadline=None)
@given(calls=sessions())
def test_intervals_are_what_the_supplement_says_of_each_moment(calls: Calls) -> None:
    visits = {visit.id: visit for visit in visits_of(calls.frames)}
    for person in PEOPLE:
        looks = looks_of(calls.frames, person)
        present = intervals_at(moments_of(calls.frames, looks, lambda _: True))
        if sum(end - start for start, end in present) < 1_000:
            assert person not in visits
            continue
        visit = visits[person]
        assert visit.present == present
        assert visit.still == join_nearby(intervals_at(moments_of(calls.frames, looks, lambda one: one.still)))
        assert visit.looking == intervals_at(moments_of(calls.frames, looks, lambda one: one.looking))


@settings(max_examples=300, deadline=None)
@given(calls=sessions())
def test_the_last_visits_do_not_depend_on_how_calls_were_cut(calls: Calls) -> None:
    folded = Folded(7, "key")
    published: dict[bytes, Visit] = {}
    for one in calls.told():
        before = encode_folded(folded)
        after, visits = fold_sightings(folded, one)
        assert encode_folded(folded) == before, "folding must not change what it was given"
        for visit in visits:
            known = published.get(visit.id)
            assert visit.revision == (known.revision if known else 0) + 1
            assert known is None or visit.began_ms == known.began_ms
            published[visit.id] = visit
        folded = decode_folded(encode_folded(after)) or pytest.fail("it can't be read back")
    assert close_visits(folded) == close_visits(folded)
    closed = by_id(close_visits(folded))
    at_once = by_id(visits_of(calls.frames))
    assert {person: visit for person, visit in closed.items() if person in at_once} == at_once
    for person in closed.keys() - at_once.keys():  # it seemed long enough for a while
        assert sum(end - start for start, end in closed[person].present) < 1_000
    assert published.keys() <= closed.keys()


def counts_as_interested(visit: Visit) -> bool:
    looked_ms = sum(end - start for start, end in visit.looking)
    return any(end - start >= 3_000 for start, end in visit.still) and looked_ms > 1_000


@settings(max_examples=300, deadline=None)
@given(calls=sessions())
def test_who_becomes_interested_is_published_at_once(calls: Calls) -> None:
    folded = Folded(7, "key")
    revisions: dict[bytes, int] = {}
    interested: set[bytes] = set()
    for one in calls.told():
        folded, visits = fold_sightings(folded, one)
        revisions |= {visit.id: visit.revision for visit in visits}
        interested |= {visit.id for visit in visits if counts_as_interested(visit)}
        for shown in show_visits(folded):
            assert shown.revision == revisions[shown.id]
            assert not shown.ended
            assert shown.id in interested or not counts_as_interested(shown)


@settings(max_examples=300, deadline=None)
@given(calls=sessions())
def test_what_is_shown_of_a_session_lacks_nothing_but_its_end(calls: Calls) -> None:
    folded = Folded(7, "key")
    for one in calls.told():
        folded, _ = fold_sightings(folded, one)
    before = encode_folded(folded)
    published = {person.id for person in folded.people if person.revision}
    closed = {
        visit.id: msgspec.structs.replace(visit, ended=False, revision=visit.revision - 1)
        for visit in close_visits(folded)
        if visit.id in published
    }
    assert {visit.id: visit for visit in show_visits(folded)} == closed
    assert encode_folded(folded) == before


def test_interest_is_published_when_it_begins_and_the_next_five_seconds_later() -> None:
    folded, told = Folded(7, "key"), []
    for frame in frames_of(*[4] * 60):
        folded, visits = fold_sightings(folded, seen([frame]))
        told += [(frame.at_ms - START_MS, counts_as_interested(visit)) for visit in visits]
    assert told == [(800, False), (2_800, True), (7_800, True)]


def by_id(visits: list[Visit]) -> dict[bytes, Visit]:
    """Whatever their revisions."""
    return {visit.id: msgspec.structs.replace(visit, revision=1) for visit in visits}


def test_a_frame_holds_until_the_next_and_at_most_a_second() -> None:
    frames = [*frames_of(1, 1, 1, every_ms=500), *frames_of(1, start_ms=START_MS + 5_000)]
    assert since_start(only(visits_of(frames)).present) == [(0, 2_000), (5_000, 6_000)]


def test_a_gap_of_three_seconds_takes_what_stands_on_both_sides() -> None:
    assert since_start(only(visits_of(frames_of(4, 4, every_ms=3_000))).looking) == [(0, 4_000)]
    assert since_start(only(visits_of(frames_of(4, 2, every_ms=3_000))).looking) == [(0, 1_000)]
    assert since_start(only(visits_of(frames_of(4, 4, every_ms=3_001))).looking) == [(0, 1_000), (3_001, 4_001)]


def test_still_times_less_than_a_second_apart_become_one() -> None:
    near = only(visits_of(frames_of(2, 1, 1, 1, 1, 2, 1)))
    assert since_start(near.still) == [(0, 1_200)]
    far = only(visits_of(frames_of(2, 1, 1, 1, 1, 1, 2, 1)))
    assert since_start(far.still) == [(0, 200), (1_200, 1_400)]


def test_who_comes_back_was_there_and_still_if_still_on_both_sides() -> None:
    visit = only(visits_of(frames_of(4, *[0] * 20, 4, 1)))
    assert since_start(visit.present) == [(0, 4_600)]
    assert since_start(visit.still) == [(0, 4_400)]
    assert since_start(visit.looking) == [(0, 200), (4_200, 4_400)]
    walked = only(visits_of(frames_of(2, *[0] * 20, 1, 1)))
    assert since_start(walked.still) == [(0, 200)]


def test_who_does_not_come_back_was_not_there() -> None:
    assert since_start(only(visits_of(frames_of(*[1] * 6, *[0] * 20))).present) == [(0, 1_200)]


def test_a_visit_is_published_after_a_second_then_every_five_and_at_the_end() -> None:
    folded, revisions = Folded(7, "key"), []
    frames = frames_of(*[1] * 80, *[0] * 10)
    for number, frame in enumerate(frames):
        settled = frames[number - 4 : number - 3] if number >= 4 else []
        folded, visits = fold_sightings(folded, seen(settled, frames[max(number - 3, 0) : number + 1]))
        revisions += [(frame.at_ms - START_MS, visit.revision, visit.ended) for visit in visits]
    assert revisions == [(800, 1, False), (5_800, 2, False), (10_800, 3, False), (15_800, 4, False)]
    folded, visits = fold_sightings(folded, seen(frames[-4:], ended=ANNA))
    assert (only(visits).revision, only(visits).ended) == (5, True)
    assert since_start(only(visits).present) == [(0, 16_000)]
    assert close_visits(folded) == []


def test_a_visit_that_goes_on_is_published_only_while_the_person_is_there() -> None:
    folded, visits = fold_sightings(Folded(7, "key"), seen(frames_of(*[1] * 10)))
    assert only(visits).revision == 1
    folded, visits = fold_sightings(folded, seen(frames_of(*[0] * 200, start_ms=START_MS + 2_000)))
    assert visits == []
    assert only(close_visits(folded)).revision == 2


def test_who_was_there_for_less_than_a_second_is_no_visit() -> None:
    folded, visits = fold_sightings(Folded(7, "key"), seen(frames_of(1, 1, 1, 1, 0), ended=ANNA))
    assert (visits, close_visits(folded), folded.people) == ([], [], [])


def test_who_has_left_is_told_once_their_last_frames_are_settled() -> None:
    frames = frames_of(*[3] * 10, 0)
    folded, visits = fold_sightings(Folded(7, "key"), seen(frames[:8], frames[8:], ended=ANNA))
    assert [visit.ended for visit in visits] == [False]
    folded, visits = fold_sightings(folded, seen(frames[8:]))
    assert [(visit.ended, visit.revision) for visit in visits] == [(True, 2)]
    assert since_start(only(visits).looking) == [(0, 2_000)]


def test_the_start_stays_though_its_frames_are_taken_back() -> None:
    folded, visits = fold_sightings(Folded(7, "key"), seen([], frames_of(*[1] * 8)))
    assert only(visits).began_ms == START_MS
    later = frames_of(*[0] * 4, *[1] * 8)
    folded, _ = fold_sightings(folded, seen(later))
    visit = only(close_visits(folded))
    assert since_start(visit.present) == [(0, 1), (800, 2_400)]
    taken_back, _ = fold_sightings(
        fold_sightings(Folded(7, "key"), seen([], frames_of(*[1] * 8)))[0], seen(frames_of(*[0] * 8))
    )
    assert since_start(only(close_visits(taken_back)).present) == [(0, 1)]


def test_a_start_that_was_taken_back_before_it_was_published_is_no_start() -> None:
    folded, _ = fold_sightings(Folded(7, "key"), seen([], frames_of(1, 1)))
    folded, visits = fold_sightings(folded, seen([], frames_of(0, 0, *[1] * 6)))
    assert since_start(only(visits).present) == [(400, 1_600)]


def test_time_before_a_start_that_was_published_is_cut_off() -> None:
    unsettled = frames_of(0, 0, *[4] * 8)
    folded, visits = fold_sightings(Folded(7, "key"), seen([], unsettled))
    assert since_start(only(visits).present) == [(400, 2_000)]
    folded, _ = fold_sightings(folded, seen(frames_of(*[4] * 10)))
    visit = only(close_visits(folded))
    assert since_start(visit.present) == since_start(visit.still) == since_start(visit.looking) == [(400, 2_000)]


def test_who_was_only_in_frames_that_were_taken_back_is_forgotten() -> None:
    folded, _ = fold_sightings(Folded(7, "key"), seen([], frames_of(1, 1)))
    folded, visits = fold_sightings(folded, seen(frames_of(0, 0)))
    assert (visits, folded.people) == ([], [])


@pytest.mark.parametrize("shift_ms", [-60_000, 60_000], ids=["clock set back", "service restarted"])
def test_frames_that_do_not_follow_close_everybody(shift_ms: int) -> None:
    folded, _ = fold_sightings(Folded(7, "key"), seen(frames_of(*[1] * 8), frames_of(1, 1, start_ms=START_MS + 1_600)))
    newcomer = [SeenFrame(START_MS + shift_ms, [Sighting(BERT, still=False, looking=False)])]
    folded, visits = fold_sightings(folded, seen([], newcomer))
    assert (only(visits).id, only(visits).ended) == (ANNA, True)
    assert since_start(only(visits).present) == [(0, 2_000)]
    assert [person.id for person in folded.people] == [BERT]


def test_expression_is_the_mean_weighted_by_looking_time() -> None:
    def looking(at_ms: int, expression: tuple[float, float, float, float, float] | None) -> SeenFrame:
        return SeenFrame(START_MS + at_ms, [Sighting(ANNA, still=True, looking=True, expression=expression)])

    frames = [looking(0, HAPPY), looking(600, HAPPY), looking(900, ANGRY), looking(1_200, None), looking(1_300, None)]
    for settled in range(len(frames) + 1):
        folded, _ = fold_sightings(Folded(7, "key"), seen(frames[:settled], frames[settled:]))
        assert only(close_visits(folded)).expression == pytest.approx((0, 0.75, 0, 0.25, 0))


def test_a_visit_carries_the_newest_estimate() -> None:
    old, new = Estimate(0.5), Estimate(0.9, age=31.5, age_confidence=0.6, gender="female", gender_confidence=0.8)
    folded, _ = fold_sightings(Folded(7, "key"), Seen(frames_of(*[1] * 8), [], {ANNA: old}, []))
    folded, _ = fold_sightings(folded, Seen(frames_of(1, start_ms=START_MS + 1_600), [], {ANNA: new}, []))
    visit = only(close_visits(folded))
    assert (visit.stream_id, visit.session, visit.confidence) == (7, "key", 0.9)
    assert (visit.age, visit.age_confidence, visit.gender, visit.gender_confidence) == (31.5, 0.6, "female", 0.8)
    assert decode_visit(encode_visit(visit)) == visit


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=INTERVALS_AT_MOST, max_size=400))
def test_beyond_the_limit_the_nearest_intervals_become_one(steps: list[tuple[int, int]]) -> None:
    edges: list[int] = []
    now = 0
    for gap, length in steps:
        add_interval(edges, now + gap, now + gap + length)
        now += gap + length
    assert len(edges) == 2 * INTERVALS_AT_MOST
    assert edges == sorted(set(edges))
    assert (edges[0], edges[-1]) == (steps[0][0], now)
    gaps = [after - before for before, after in zip(edges[1:-1:2], edges[2::2], strict=True)]
    assert sorted(gaps) == sorted(sorted(gap for gap, _ in steps[1:])[-len(gaps) :])


def test_what_is_remembered_stays_small() -> None:
    """It is written with every frame: five people who look, ten frames a second, the last two seconds unsettled."""
    people = [bytes([number]) * 16 for number in range(5)]
    frames = [
        SeenFrame(
            START_MS + n * 100,
            [Sighting(who, still=n % 50 < 40, looking=n % 30 < 20, expression=HAPPY) for who in people],
        )
        for n in range(600)
    ]
    folded, _ = fold_sightings(Folded(7, "key"), Seen(frames[:-20], frames[-20:], {}, []))
    assert len(encode_folded(folded)) < 2_500


@pytest.mark.parametrize("value", [None, b"", b"\xc1", msgspec.msgpack.encode({"from": "the future"})])
def test_what_another_release_remembered_is_no_obstacle(value: bytes | None) -> None:
    assert decode_folded(value) is None
