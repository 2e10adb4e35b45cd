"""The oracle says what the supplement says; random worlds get its numbers from the data endpoint."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import psycopg
import pytest

from onlooker_pipeline.visits.visit import Interval, Visit
from testkit.oracle import Figures, Thresholds, compute_figures
from testkit.worlds.clocks import BACK_OVER_MIDNIGHT, OFF_BY_SECONDS, SKIPPED_DAY, WINTER, Era, unix_s
from testkit.worlds.expectation import buckets_of
from testkit.worlds.player import Player
from testkit.worlds.search import Play, running_player, try_worlds
from testkit.worlds.strategies import METRICS
from testkit.worlds.world import Arrival, Question, World

pytest_plugins = ["migrated"]

WORLDS = 40
EXPIRING_WORLDS = 15
SEED = 20261115
KNOWN = Thresholds(senior_age=50, gender_above=0.5, age_above=0.5)
HAPPY = (0.0, 1.0, 0.0, 0.0, 0.0)
MISCOUNT = """
CREATE FUNCTION miscount() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.passing_by := 7; RETURN new; END';
CREATE TRIGGER miscount BEFORE INSERT OR UPDATE ON metrics_slot FOR EACH ROW EXECUTE FUNCTION miscount()"""
"""A roll-up that is wrong."""
SAD = (0.0, 0.0, 0.0, 0.0, 1.0)


def visit(present: list[Interval], still: list[Interval], looking: list[Interval], **person: Any) -> Visit:
    return Visit(bytes(16), 1, "", 1, True, present, still, looking, **person)


def stays(seconds: float, *, at_s: float = 0, looks_s: float = 2, **person: Any) -> Visit:
    """Somebody who stands still all the time."""
    start, end = int(at_s * 1000), int((at_s + seconds) * 1000)
    return visit([(start, end)], [(start, end)], [(start, start + int(looks_s * 1000))], **person)


def figures(*visits: Visit, from_s: float = 0, to_s: float = 3600, edges_s: tuple[float, ...] = ()) -> list[Figures]:
    edges_us = [int(edge * 1e6) for edge in edges_s or (from_s, to_s)]
    return compute_figures(visits, from_us=int(from_s * 1e6), to_us=int(to_s * 1e6), edges_us=edges_us, known=KNOWN)


def value(metric: str, *visits: Visit, **range_s: float) -> float | int | None:
    return figures(*visits, **range_s)[0][metric]["value"]


@pytest.mark.parametrize(("present_ms", "counted"), [(999, 0), (1000, 1)])
def test_one_second_of_presence_inside_the_range_is_passing_by(present_ms: int, counted: int) -> None:
    someone = visit([(-5000, -1000), (0, present_ms)], [], [])
    assert value("passing_by", someone) == counted


@pytest.mark.parametrize(("still_ms", "looking_ms", "counted"), [(3000, 1001, 1), (2999, 1001, 0), (3000, 1000, 0)])
def test_three_seconds_of_stop_and_more_than_one_of_looking_are_interest(
    still_ms: int, looking_ms: int, counted: int
) -> None:
    someone = visit([(0, 9000)], [(0, still_ms)], [(0, 500), (600, 100 + looking_ms)])
    assert value("interested", someone) == counted


def test_a_stop_must_be_in_one_piece_and_inside_the_range() -> None:
    assert value("interested", visit([(0, 9000)], [(0, 2000), (4000, 6000)], [(0, 5000)])) == 0
    assert value("interested", stays(5), from_s=2.5) == 0
    assert value("interested", stays(5, looks_s=5), from_s=2) == 1


def test_times_are_means_over_the_interested_alone_and_inside_the_range() -> None:
    people = [stays(10, looks_s=4), stays(20, looks_s=6), stays(2)]
    assert (value("stop_time", *people), value("attention_time", *people)) == (15, 5)
    assert (value("stop_time", *people, from_s=2), value("attention_time", *people, from_s=2)) == (13, 3)
    assert value("stop_time", stays(1)) is None


def test_a_visit_is_counted_in_the_bucket_in_which_its_part_inside_the_range_begins() -> None:
    someone = visit([(0, 2000), (100_000, 109_000)], [(100_000, 109_000)], [(0, 2000), (100_000, 103_000)])
    both = figures(someone, to_s=200, edges_s=(0, 90, 200))
    assert [one["interested"]["value"] for one in both] == [1, 0]
    assert both[0]["attention_time"]["value"] == 5
    late = figures(someone, from_s=3, to_s=200, edges_s=(0, 90, 200))
    assert [one["attention_time"]["value"] for one in late] == [None, 3]


def test_who_has_no_known_age_or_gender_is_in_no_category() -> None:
    sure: dict[str, Any] = {"gender": "female", "gender_confidence": 0.51, "age_confidence": 0.51}
    unsure: dict[str, Any] = {"gender": "male", "gender_confidence": 0.5, "age_confidence": 0.51}
    (found,) = figures(
        stays(5, age=50.0, **sure), stays(5, age=49.9, **sure), stays(5, **sure), stays(5, age=14.9, **unsure)
    )
    assert found["category"] == {"senior_female": 1, "senior_male": 0, "young_female": 1, "young_male": 0}
    assert found["gender"] == {"?": 1, "female": 3, "male": 0}
    assert {band: count for band, count in found["age"].items() if count} == {"0-14": 1, "45-54": 2, "?": 1}


def test_an_age_that_is_a_guess_is_not_known() -> None:
    sure: dict[str, Any] = {"gender": "female", "gender_confidence": 0.9, "age": 30.0}
    (found,) = figures(stays(5, age_confidence=0.51, **sure), stays(5, age_confidence=0.5, **sure))
    assert {band: count for band, count in found["age"].items() if count} == {"25-34": 1, "?": 1}
    assert {part: count for part, count in found["category"].items() if count} == {"young_female": 1}
    assert found["gender"]["female"] == 2


def test_expressions_that_are_not_known_are_in_no_mean() -> None:
    (found,) = figures(stays(5, expression=HAPPY), stays(5, expression=SAD), stays(5, expression=HAPPY), stays(5))
    assert found["satisfaction"]["value"] == pytest.approx(2 / 3)
    assert {name: count for name, count in found["emotion"].items() if count} == {"happiness": 2, "sadness": 1, "?": 1}


def test_of_equal_emotions_the_first_is_dominant() -> None:
    assert figures(stays(5, expression=(0.1, 0.3, 0.3, 0.3, 0.0)))[0]["emotion"]["happiness"] == 1


# Where a clock jumps, and the hours or days that an hour from then on touches.
JUMPS = [
    (WINTER, "Europe/Paris", "2025-10-26T00:30", ["2025-10-26T02:00:00+02:00", "2025-10-26T02:00:00+01:00"]),
    (WINTER, "Australia/Lord_Howe", "2026-04-04T14:30", ["2026-04-05T01:00:00+11:00", "2026-04-05T01:30:00+10:30"]),
    (
        OFF_BY_SECONDS,
        "Africa/Monrovia",
        "1972-01-07T00:00",
        ["1972-01-06T23:00:00-00:44:30", "1972-01-07T00:44:30+00:00"],
    ),
]
DAYS = [
    (WINTER, "Asia/Beirut", "2026-03-28T21:30", ["2026-03-28T00:00:00+02:00", "2026-03-29T01:00:00+03:00"]),
    (SKIPPED_DAY, "Pacific/Apia", "2011-12-30T09:30", ["2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"]),
    (
        BACK_OVER_MIDNIGHT,
        "America/St_Johns",
        "2010-11-07T02:29",
        ["2010-11-06T00:00:00-02:30", "2010-11-07T00:00:00-02:30"],
    ),
]


def keys_of_an_hour(era: Era, zone: str, moment: str, *, time: str) -> list[str]:
    from_us = 1_000_000 * unix_s(moment)
    question = Question(0, ("passing_by",), from_us, from_us + 3_600_000_000, time, None, "utc")
    return buckets_of(question, zone, era)[1]


@pytest.mark.parametrize(("era", "zone", "moment", "keys"), JUMPS)
def test_an_hour_ends_where_the_clock_jumps(era: Era, zone: str, moment: str, keys: list[str]) -> None:
    assert keys_of_an_hour(era, zone, moment, time="by_hour") == keys


@pytest.mark.parametrize(("era", "zone", "moment", "keys"), DAYS)
def test_a_day_begins_at_the_first_moment_of_its_date(era: Era, zone: str, moment: str, keys: list[str]) -> None:
    assert keys_of_an_hour(era, zone, moment, time="by_day") == keys


def test_weeks_months_and_quarter_hours_are_those_of_the_calendar_and_of_slots() -> None:
    paris = (WINTER, "Europe/Paris", "2026-03-29T21:30")
    assert keys_of_an_hour(*paris, time="by_week") == ["2026-03-23T00:00:00+01:00", "2026-03-30T00:00:00+02:00"]
    assert keys_of_an_hour(*paris, time="by_month") == ["2026-03-01T00:00:00+01:00"]
    havana = (WINTER, "America/Havana", "2025-11-01T03:30")
    assert keys_of_an_hour(*havana, time="by_month") == ["2025-10-01T00:00:00-04:00", "2025-11-01T00:00:00-04:00"]
    jump = keys_of_an_hour(WINTER, "Europe/Paris", "2025-10-26T00:30", time="by_quarter_hour")
    assert jump == [f"2025-10-26T02:{clock}" for clock in ("30:00+02:00", "45:00+02:00", "00:00+01:00", "15:00+01:00")]


MORNING_S = unix_s("2026-01-14T09:15")
WHOLE_DAY = Question(
    0, METRICS, 1_000_000 * unix_s("2026-01-14T00:00"), 1_000_000 * unix_s("2026-01-15T00:00"), "global", None, "utc"
)
FROM_INSIDE_A_VISIT = replace(WHOLE_DAY, from_us=1_000_000 * (MORNING_S + 2))


def stays_at(at_s: int, *, number: int = 1) -> Visit:
    """An interested person."""
    return msgspec.structs.replace(stays(5, at_s=at_s), id=(at_s + number).to_bytes(16), stream_id=0)


def arrival(*visits: Visit, questions: tuple[Question, ...] = ()) -> Arrival:
    return Arrival(visits, fills=1000, meanwhile=False, questions=questions)


@pytest.fixture(scope="module")
def played(database: str) -> Iterator[tuple[Player, Play]]:
    """A player, and how it plays a world."""
    with asyncio.Runner() as runner, running_player(runner, database) as player:
        yield player, lambda world: runner.run(player.play(world))


def test_a_slot_that_is_filled_gives_the_oracles_numbers(played: tuple[Player, Play]) -> None:
    """Asserted on a world of our own: what a seed draws depends on what else is imported."""
    player, play = played
    before = replace(player.tally)
    play(World(WINTER, ("UTC",), (arrival(stays_at(MORNING_S)), arrival(), arrival(questions=(WHOLE_DAY,)))))
    assert player.tally.filled_slots > before.filled_slots
    assert player.tally.questions > before.questions


def test_every_number_of_random_worlds_is_the_oracles(played: tuple[Player, Play]) -> None:
    player, play = played
    before = replace(player.tally)
    disagreement = try_worlds(play, count=WORLDS, seed=SEED)
    assert disagreement is None, str(disagreement)
    assert player.tally.worlds >= before.worlds + WORLDS


@pytest.mark.parametrize(
    ("question", "inexact_pages"), [(WHOLE_DAY, 0), (FROM_INSIDE_A_VISIT, 2)], ids=["exact", "inexact"]
)
def test_a_range_that_cuts_a_deleted_visit_says_that_it_is_not_exact(
    played: tuple[Player, Play], question: Question, inexact_pages: int
) -> None:
    player, play = played
    before = replace(player.tally)
    visits, later = (stays_at(MORNING_S), stays_at(MORNING_S + 60)), stays_at(MORNING_S + 86_400, number=3)
    arrivals = (arrival(*visits), arrival(), arrival(later, questions=(question,)))
    play(World(WINTER, ("UTC",), arrivals, expires_us=1_000_000 * (MORNING_S + 43_200)))
    assert player.tally.expired_streams == before.expired_streams + 1
    assert player.tally.inexact_pages == before.inexact_pages + inexact_pages
    asked = player.tally.pages - before.pages
    assert player.tally.exact_pages_of_expired == before.exact_pages_of_expired + asked - inexact_pages


def test_numbers_of_deleted_visits_are_exact_or_say_that_they_are_not(played: tuple[Player, Play]) -> None:
    _, play = played
    disagreement = try_worlds(play, count=EXPIRING_WORLDS, seed=SEED, expiring=True)
    assert disagreement is None, str(disagreement)


def test_a_wrong_number_is_found_and_shown_in_a_small_world(played: tuple[Player, Play], database: str) -> None:
    _, play = played
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(MISCOUNT)
        try:
            disagreement = try_worlds(play, count=WORLDS, seed=SEED)
        finally:
            connection.execute("DROP FUNCTION miscount CASCADE")
    assert disagreement
    assert sum(len(arrival.visits) for arrival in disagreement.world.arrivals) == 1
    assert re.search(r"passing_by(?:': | is \{'value': )7\b", str(disagreement)), "by a page, or by its day"
