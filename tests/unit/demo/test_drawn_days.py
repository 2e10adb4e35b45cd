"""What the demo draws: the same days each time, believable people, and nobody while the camera was off."""

import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest

from onlooker.demo.days import draw_day, find_gaps
from onlooker.demo.history import DemoStream
from onlooker.demo.live_traffic import LIVELY_EVERY_S, open_scenes
from onlooker.demo.people import draw_visit
from onlooker.demo.places import MUSEUM, PLACES, SHOP, Place, many_places
from onlooker.metrics.coverage import Absence
from onlooker_pipeline.visits.visit import Interval, Visit

MONDAY = date(2026, 11, 9)
NOW = datetime(2026, 11, 18, 15, tzinfo=UTC)


def draw_people(place: Place, count: int) -> list[Visit]:
    random = Random(1)
    return [draw_visit(place.crowd, 1_000_000 * number, random) for number in range(count)]


def is_interested(visit: Visit) -> bool:
    looked_ms = sum(end - begin for begin, end in visit.looking)
    return any(end - begin >= 3000 for begin, end in visit.still) and looked_ms > 1000


def inside(parts: list[Interval], whole: list[Interval]) -> bool:
    [(begins, ends)] = whole
    edges = [edge for part in parts for edge in part]
    return edges == sorted(edges) and all(begins <= edge <= ends for edge in edges)


def test_a_day_is_the_same_whenever_it_is_drawn() -> None:
    assert draw_day(SHOP, MONDAY, []) == draw_day(SHOP, MONDAY, [])
    assert draw_day(SHOP, MONDAY, []) != draw_day(SHOP, MONDAY + timedelta(days=1), [])


def test_weekdays_and_hours_have_their_own_pattern() -> None:
    weeks = [[draw_day(SHOP, MONDAY + timedelta(days=day, weeks=-week), []) for day in range(7)] for week in range(8)]
    by_weekday = [sum(len(week[day]) for week in weeks) for day in range(7)]
    assert by_weekday[5] == max(by_weekday)
    assert by_weekday[6] < by_weekday[0] / 4
    monday = Counter(datetime.fromtimestamp(one.began_ms / 1000, UTC).hour for week in weeks for one in week[0])
    assert monday[16] > 4 * monday[2]
    assert draw_day(MUSEUM, MONDAY, []) == []


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_people_are_possible(place: Place) -> None:
    for visit in draw_people(place, 2000):
        assert inside(visit.still, visit.present)
        assert inside(visit.looking, visit.present)
        assert visit.age is None or 0 < visit.age < 100
        assert (visit.gender is None) == (visit.age is None)
        assert 0 <= visit.gender_confidence <= 1
        assert visit.expression is None or sum(visit.expression) == pytest.approx(1)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_as_many_are_interested_as_the_place_says(place: Place) -> None:
    people = draw_people(place, 4000)
    share = sum(map(is_interested, people)) / len(people)
    assert 0.75 * place.crowd.stops < share <= 1.05 * place.crowd.stops


@pytest.mark.parametrize("ago", range(7))
def test_gaps_lie_on_open_days_and_apart_and_nobody_is_seen_in_them(ago: int) -> None:
    for place in PLACES:
        gaps = find_gaps(place, now=NOW - timedelta(days=ago))
        assert all(gap.to_at <= after.from_at for gap, after in pairwise(gaps))
        for gap in gaps:
            day = gap.from_at.date()
            seen = [one for near in range(-1, 2) for one in draw_day(place, day + timedelta(days=near), gaps)]
            moments = [gap.from_at.timestamp() * 1000, gap.to_at.timestamp() * 1000]
            assert not any(one.began_ms < moments[1] and one.present[-1][1] > moments[0] for one in seen)
    found = {gap.why for place in PLACES for gap in find_gaps(place, now=NOW)}
    assert found == {Absence.OFFLINE, Absence.REFUSED, Absence.DISABLED, Absence.QUOTA}


def test_a_used_up_month_goes_on_with_the_next_one() -> None:
    [quota] = [gap for gap in find_gaps(MUSEUM, now=datetime(2026, 11, 19, 20, tzinfo=UTC)) if gap.why is Absence.QUOTA]
    assert (quota.from_at, quota.to_at) == (
        datetime(2026, 10, 31, 17, tzinfo=UTC),
        datetime(2026, 11, 1, tzinfo=UTC),
    )


def test_a_day_of_25_hours_has_people_in_order_and_inside_it() -> None:
    visits = draw_day(replace(SHOP, outside=0.5), date(2026, 10, 25), [])
    begins = [visit.began_ms / 1000 for visit in visits]
    assert begins == sorted(begins)
    assert datetime(2026, 10, 24, 22, tzinfo=UTC).timestamp() <= begins[0]
    assert begins[-1] <= datetime(2026, 10, 25, 23, tzinfo=UTC).timestamp() + 10


def test_many_places_have_names_of_their_own() -> None:
    assert len({place.name for place in many_places(30)}) == 30


def test_somebody_who_is_in_view_is_told_again_until_they_leave() -> None:
    [scene] = open_scenes([DemoStream(7, "client", "", replace(MUSEUM, people_a_day=0))])
    scene.random = Random(4)
    begins_ms, told = int(time.time() * 1000), list[Visit]()
    for tick in range(600):
        told += scene.pass_time(begins_ms + 1000 * tick, 1.0)
    told += scene.end(begins_ms + 600_000)
    by_person = {visit.id: [one for one in told if one.id == visit.id] for visit in told}
    assert 0.4 * 600 / LIVELY_EVERY_S < len(by_person) < 3 * 600 / LIVELY_EVERY_S
    for revisions in by_person.values():
        assert [one.revision for one in revisions] == list(range(1, len(revisions) + 1))
        assert [one.ended for one in revisions] == [False] * (len(revisions) - 1) + [True]
        assert {one.began_ms for one in revisions} == {revisions[0].began_ms}
        assert all(one.stream_id == 7 and inside(one.looking, one.present) for one in revisions)
    assert any(len(revisions) > 1 for revisions in by_person.values())
