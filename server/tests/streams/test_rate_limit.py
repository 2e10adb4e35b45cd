"""The token bucket against a ten-line oracle."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import Problem
from onlooker.streams.rate_limit import RateLimit


@given(st.lists(st.floats(0, 2), max_size=80), st.integers(1, 5), st.floats(0.5, 10))
def test_a_stream_never_gets_more_than_burst_and_rate_allow(gaps: list[float], burst: int, rate: float) -> None:
    rates, now, level = RateLimit(per_second=rate, burst=burst), 100.0, float(burst)
    for gap in gaps:
        now += gap
        level = min(burst, level + gap * rate)
        with patch("onlooker.streams.rate_limit.time.monotonic", return_value=now):
            taken = rates.wait_s(1) == 0
        if abs(level - 1) > 1e-6:
            assert taken == (level >= 1)
        level -= taken


def test_streams_do_not_affect_one_another() -> None:
    rates = RateLimit(per_second=1, burst=1)
    rates.take(1)
    with pytest.raises(Problem) as refused:
        rates.take(1)
    assert refused.value.headers["Retry-After"] == "1"
    rates.take(2)
