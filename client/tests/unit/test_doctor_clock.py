"""doctor's comparison of two clocks."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_client.doctor.clock import Deviation, deviation_by_dates, judge_clock
from onlooker_client.doctor.findings import Severity


@pytest.mark.parametrize(
    ("ahead_s", "level", "figure"),
    [
        (0.02, Severity.GOOD, "accurate to 0.1 s"),
        (0.3, Severity.GOOD, "0.3 s ahead of the server"),
        (-0.3, Severity.GOOD, "0.3 s behind the server"),
        (5.0, Severity.WARN, "5.0 s ahead of the server"),
        (-61.0, Severity.BAD, "61.0 s behind the server"),
        (600.0, Severity.BAD, "10 min ahead of the server"),
        (-86400.0, Severity.BAD, "24 h behind the server"),
    ],
)
def test_a_clock_that_is_off_is_told_by_how_much(ahead_s: float, level: Severity, figure: str) -> None:
    finding = judge_clock(Deviation(ahead_s, within_s=0.01))
    assert (finding.level, finding.figure) == (level, figure)
    assert ("timedatectl" in finding.remedy) == (level is not Severity.GOOD)


def test_what_lies_within_the_precision_is_no_deviation() -> None:
    assert judge_clock(Deviation(0.8, within_s=1.0)).figure == "accurate to 1.0 s"


@given(
    ahead_s=st.floats(-1000, 1000),
    phase_s=st.floats(0, 0.999),
    trip_s=st.floats(0.001, 0.3),
    began_at=st.floats(1.7e9, 1.8e9),
)
def test_the_true_deviation_is_within_what_dates_say(
    ahead_s: float, phase_s: float, trip_s: float, began_at: float
) -> None:
    """The server renews its Date once a second, at some phase of the second."""
    seen = []
    for number in range(8):
        sent = began_at + number * (0.15 + trip_s)
        served = sent + trip_s / 2
        renewed = math.floor(served - phase_s) + phase_s
        seen.append((sent + ahead_s, sent + trip_s + ahead_s, float(math.floor(renewed))))
    deviation = deviation_by_dates(seen)
    assert abs(deviation.ahead_s - ahead_s) <= deviation.within_s + 1e-3
    assert deviation.within_s <= 1.0 + trip_s
