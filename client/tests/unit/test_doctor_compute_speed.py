"""The doctor's line about computing here: measured where that is installed, and else not held against a device."""

from typing import Any

import pytest

from onlooker_client.device import computation, speed_test
from onlooker_client.device.speed_test import ComputeSpeed
from onlooker_client.doctor.compute_speed import check_compute_speed
from onlooker_client.doctor.findings import Severity

NOBODY: Any = None


def test_without_the_packages_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computation, "PACKAGES", ("no_such_package",))
    assert check_compute_speed(NOBODY).level is Severity.UNCHECKED


@pytest.mark.parametrize(
    ("rates", "level"),
    [((30, 20, 8), Severity.GOOD), ((30, 20, 4), Severity.WARN), ((9, 4, 1), Severity.WARN)],
)
def test_a_machine_that_is_too_slow_is_warned_about(
    monkeypatch: pytest.MonkeyPatch, rates: tuple[float, ...], level: Severity
) -> None:
    pytest.importorskip("onlooker_models")
    speeds = [ComputeSpeed(people, people, rate) for people, rate in zip((0, 1, 5), rates)]
    monkeypatch.setattr(speed_test, "measure_speed", lambda _: speeds)
    found = check_compute_speed(NOBODY)
    assert found.level is level
    assert f"{rates[2]:.1f} with five people" in found.figure


def test_the_people_on_the_wall_are_found() -> None:
    pytest.importorskip("onlooker_models")
    from onlooker_client.device.compute_options import ComputeOptions

    speeds = speed_test.measure_speed(ComputeOptions())
    assert [(speed.people, speed.found) for speed in speeds] == [(0, 0), (1, 1), (5, 5)]
    assert all(speed.frames_per_second > 1 for speed in speeds)
