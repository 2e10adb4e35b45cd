"""Who is who: the method against trying out everything."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.tracking.assignment import INFINITE, assign

Costs = list[list[float]]


@st.composite
def tables(draw: st.DrawFn) -> Costs:
    """Small ones, in which some pairs are impossible; whole numbers, so that equal sums are equal."""
    rows, columns = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    cost = st.integers(0, 30).map(float) | st.just(INFINITE)
    return [[draw(cost) for _ in range(columns)] for _ in range(rows)]


def best_by_trying(costs: Costs, row: int = 0, taken: frozenset[int] = frozenset()) -> tuple[int, float]:
    """Most pairs (negative, so that less is better), then the least cost."""
    if row == len(costs):
        return 0, 0.0
    best = best_by_trying(costs, row + 1, taken)
    for column, cost in enumerate(costs[row]):
        if column not in taken and cost < INFINITE:
            pairs, total = best_by_trying(costs, row + 1, taken | {column})
            best = min(best, (pairs - 1, total + cost))
    return best


@given(costs=tables())
def test_as_many_pairs_as_possible_then_the_cheapest(costs: Costs) -> None:
    chosen = assign(costs)
    assert len(set(chosen.values())) == len(chosen)
    total = sum(costs[row][column] for row, column in chosen.items())
    assert (-len(chosen), total) == best_by_trying(costs)


@given(costs=tables())
def test_rows_and_columns_can_change_places(costs: Costs) -> None:
    turned = [list(column) for column in zip(*costs, strict=True)]
    one, other = assign(costs), assign(turned)
    assert len(one) == len(other)
    assert sum(costs[i][j] for i, j in one.items()) == sum(turned[i][j] for i, j in other.items())


@pytest.mark.parametrize("costs", [[], [[]], [[], []], [[INFINITE]], [[INFINITE, INFINITE]]])
def test_nobody_is_paired_where_nothing_is_possible(costs: Costs) -> None:
    assert assign(costs) == {}


def test_nearest_pair_gives_way_when_all_together_are_nearer() -> None:
    assert assign([[1.0, 2.0], [2.0, 9.0]]) == {0: 1, 1: 0}


def test_dear_pair_is_better_than_none() -> None:
    assert assign([[0.0, 1000.0], [0.0, INFINITE]]) == {0: 1, 1: 0}


def test_crowd_is_assigned() -> None:
    size = 40
    costs = [[float((row - column) ** 2) for column in range(size)] for row in reversed(range(size))]
    assert assign(costs) == {row: size - 1 - row for row in range(size)}
    assert math.isfinite(sum(costs[row][column] for row, column in assign(costs).items()))
