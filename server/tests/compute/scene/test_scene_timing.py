"""Times that no visit may have."""

import time
from datetime import UTC, datetime

import pytest

from onlooker.bus.messages import Sender
from onlooker.compute.call import Call, ComputeError
from onlooker.compute.frame_time import FrameClock
from onlooker.compute.scene.timing import check_time

DAY_S = 86_400


def call_at(unix_s: float | None, *, clock: FrameClock | None = None, retention_days: int = 365) -> Call:
    params = {} if unix_s is None else {"timestamp": datetime.fromtimestamp(unix_s, UTC).isoformat()}
    sender = Sender(retention_days=retention_days)
    return Call(params, {}, in_session=True, arrived_at=time.time(), sender=sender, clock=clock)


@pytest.mark.parametrize("away_s", [6 * 60, -8 * DAY_S])
def test_time_that_no_visit_may_have_is_refused_only_when_stored(away_s: float) -> None:
    call = call_at(time.time() + away_s, retention_days=7)
    with pytest.raises(ComputeError) as refused:
        check_time(call, stored=True)
    assert refused.value.code == "bad_timestamp"
    assert "clock" in refused.value.sentence
    check_time(call, stored=False)


@pytest.mark.parametrize("away_s", [4 * 60, -6 * DAY_S])
def test_time_within_the_limits_is_taken(away_s: float) -> None:
    check_time(call_at(time.time() + away_s, retention_days=7), stored=True)


@pytest.mark.parametrize("unix_s", [0.0, -DAY_S, DAY_S - 1.0])
def test_clock_that_was_never_set_is_refused_always(unix_s: float) -> None:
    with pytest.raises(ComputeError, match="1970"):
        check_time(call_at(unix_s), stored=False)


def test_time_of_arrival_is_always_taken() -> None:
    check_time(call_at(None, retention_days=1), stored=True)


def test_frames_stamped_alike_for_longer_than_the_retention_are_taken() -> None:
    """It is the moment that the frame is given which would be stored."""
    began_us = round((time.time() - 2 * DAY_S) * 1e6)
    clock = FrameClock(began_us, began_us, began_us, began_us + 1)
    check_time(call_at(began_us / 1e6, clock=clock, retention_days=1), stored=True)
