"""Ranks of rows: what chance explains is a tie, and a rank's interval holds the true one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from onlooker.metrics.definitions import METRICS, Figures
from onlooker.metrics.like_time import ClockRun, TimeRange
from onlooker.metrics.pooled_figures import POOLED_COLUMNS, PooledCluster, StreamPeriod
from onlooker.metrics.row_ranks import RankInterval, rank_rows
from onlooker.metrics.side_by_side import ComparedRow, WatchedStream

HOURS = 100
PERIOD = TimeRange(datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 12, tzinfo=UTC))
STREAM = WatchedStream(StreamPeriod(1, ZoneInfo("UTC"), PERIOD), (ClockRun(0, 0, 3600 * HOURS, 0),), 3600.0 * HOURS)
WORLDS = 400


def row(*clusters: dict[str, Figures], hours: float = HOURS) -> ComparedRow:
    made = tuple(PooledCluster(number, number + 1, all_figures(one)) for number, one in enumerate(clusters))
    return ComparedRow((STREAM,), made, 3600 * hours)


def all_figures(given: dict[str, Figures]) -> Figures:
    pairs = (zip(METRICS[name].figures, figures, strict=True) for name, figures in given.items())
    known = {column: value for one in pairs for column, value in one}
    return [known.get(column, 0) for column in POOLED_COLUMNS]


def counted(passing_by: int, interested: int = 0, **changes: float) -> ComparedRow:
    return row({"passing_by": [passing_by], "interested": [interested]}, **changes)


def standing(*seconds: Sequence[float]) -> ComparedRow:
    """Each slot's people."""
    clusters: list[dict[str, Figures]] = [{"stop_time": [round(sum(slot) * 1e6), len(slot)]} for slot in seconds]
    return row(*clusters)


def test_rows_that_differ_by_more_than_chance_have_places_of_their_own() -> None:
    rows = [counted(100), counted(900), counted(400)]
    assert rank_rows(rows, "passing_by") == [RankInterval(3, 3), RankInterval(1, 1), RankInterval(2, 2)]


def test_rows_that_chance_explains_share_places() -> None:
    rows = [counted(400), counted(410), counted(100)]
    assert rank_rows(rows, "passing_by") == [RankInterval(1, 2), RankInterval(1, 2), RankInterval(3, 3)]


def test_a_row_between_two_may_be_tied_with_both() -> None:
    rows = [counted(400), counted(445), counted(495)]
    assert rank_rows(rows, "passing_by") == [RankInterval(2, 3), RankInterval(1, 3), RankInterval(1, 2)]


def test_counts_are_ranked_by_watched_time() -> None:
    rows = [counted(1000, hours=100), counted(950, hours=50)]
    assert rank_rows(rows, "passing_by") == [RankInterval(2, 2), RankInterval(1, 1)]


def test_shares_and_means_of_few_people_have_no_rank() -> None:
    assert rank_rows([counted(9, 9), counted(100, 10), counted(100, 90)], "conversion") == [
        None,
        RankInterval(2, 2),
        RankInterval(1, 1),
    ]
    few, long, short = standing([60] * 9), standing(*[[9, 8, 10]] * 8), standing(*[[4, 3, 5]] * 8)
    assert rank_rows([few, long, short], "stop_time") == [None, RankInterval(1, 1), RankInterval(2, 2)]


def test_people_of_one_slot_alone_tie_with_everybody() -> None:
    rows = [standing([60] * 20), standing(*[[9, 8, 10]] * 8), standing(*[[4, 3, 5]] * 8)]
    assert rank_rows(rows, "stop_time") == [RankInterval(1, 3), RankInterval(1, 2), RankInterval(2, 3)]


def test_a_row_that_did_not_watch_has_no_rank() -> None:
    assert rank_rows([ComparedRow(()), counted(5)], "passing_by") == [None, RankInterval(1, 1)]


@pytest.mark.parametrize("rates", [[200.0] * 10, [100.0, 100.0, 130.0, 150.0, 150.0, 300.0], [40.0, 60.0]])
def test_the_interval_of_a_rank_holds_the_true_one(rates: list[float]) -> None:
    """Of equal rows every place that they share."""
    draw = np.random.default_rng(7)
    held = []
    for _ in range(WORLDS):
        found = rank_rows([counted(int(draw.poisson(rate))) for rate in rates], "passing_by")
        for rate, rank in zip(rates, found, strict=True):
            best = 1 + sum(other > rate for other in rates)
            worst = len(rates) - sum(other < rate for other in rates)
            held.append(rank is not None and rank.best <= best and worst <= rank.worst)
    assert sum(held) / len(held) >= 0.95
