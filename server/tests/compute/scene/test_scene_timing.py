"""When a frame was taken, and what does not fit."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.bus.messages import Sender
from onlooker.compute.call import Call, ComputeError
from onlooker.compute.scene.timing import LATE_AT_MOST_MS, Order, frame_time_ms, order_of

DAY_S = 86_400


def call_at(unix_s: float | None, *, arrived_at: float = 0.0, retention_days: int = 365) -> Call:
    params = {} if unix_s is None else {"timestamp": datetime.fromtimestamp(unix_s, UTC).isoformat()}
    sender = Sender(retention_days=retention_days)
    return Call(params, {}, in_session=True, arrived_at=arrived_at, sender=sender)


def test_timestamp_counts_to_the_millisecond() -> None:
    now = time.time()
    assert frame_time_ms(call_at(now), stored=True) == pytest.approx(1000 * now, abs=1)


def test_without_a_timestamp_the_arrival_counts() -> None:
    now = time.time()
    assert frame_time_ms(call_at(None, arrived_at=now - 3), stored=True) == round(1000 * (now - 3))


@pytest.mark.parametrize("away_s", [6 * 60, -8 * DAY_S])
def test_time_that_no_visit_may_have_is_refused_only_when_stored(away_s: float) -> None:
    call = call_at(time.time() + away_s, retention_days=7)
    with pytest.raises(ComputeError) as refused:
        frame_time_ms(call, stored=True)
    assert refused.value.code == "bad_timestamp"
    assert "clock" in refused.value.sentence
    assert frame_time_ms(call, stored=False) == pytest.approx(1000 * (time.time() + away_s), abs=5_000)


@pytest.mark.parametrize("away_s", [4 * 60, -6 * DAY_S])
def test_time_within_the_limits_is_taken(away_s: float) -> None:
    assert frame_time_ms(call_at(time.time() + away_s, retention_days=7), stored=True)


@pytest.mark.parametrize(
    ("ahead_ms", "order"),
    [
        (1, Order.NEXT),
        (3_600_000, Order.NEXT),
        (0, Order.LATE),
        (-1, Order.LATE),
        (-LATE_AT_MOST_MS, Order.LATE),
        (-LATE_AT_MOST_MS - 1, Order.CLOCK_SET_BACK),
    ],
)
def test_order_of_a_frame(ahead_ms: int, order: Order) -> None:
    assert order_of(10**12 + ahead_ms, after_ms=10**12) is order


@given(at_ms=st.integers(0, 10**13), after_ms=st.integers(0, 10**13))
def test_frame_is_next_exactly_if_it_is_newer(at_ms: int, after_ms: int) -> None:
    assert (order_of(at_ms, after_ms=after_ms) is Order.NEXT) is (at_ms > after_ms)
