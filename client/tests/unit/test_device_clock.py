"""The device's clock: what is known of the time, and that nothing else moves it."""

import pytest
from testkit.device_simulation import SimulatedClocks

from onlooker_client.device.device_clock import DeviceClock, SystemClocks

NOON = 1_790_000_000.0


def test_the_time_is_known_once_the_kernel_is_synchronised() -> None:
    clocks = SimulatedClocks(started_at=NOON, wall_ahead_s=-NOON, synchronised=False)
    clock = DeviceClock(clocks)
    assert not clock.look()
    assert clock.now_ms() is None
    clocks.wall_ahead_s, clocks.synchronised = 0.0, True
    assert clock.look()
    assert clock.now_ms() == round(clocks.true_s() * 1000)
    assert clock.source == "kernel"


def test_the_time_is_known_once_the_server_has_said_it() -> None:
    clocks = SimulatedClocks(started_at=NOON, wall_ahead_s=-NOON, synchronised=False)
    clock = DeviceClock(clocks)
    asked_s = clock.boot_s()
    clocks.advance(0.4)
    assert clock.learn(clocks.true_s() - 0.2, asked_s=asked_s, answered_s=clock.boot_s())
    assert clock.now_ms() == pytest.approx(clocks.true_s() * 1000, abs=1)


@pytest.mark.parametrize("years", [-2, 2])
def test_setting_the_wall_clock_changes_nothing(years: int) -> None:
    clocks = SimulatedClocks(started_at=NOON)
    clock = DeviceClock(clocks)
    clock.look()
    before_s = clock.stamp(clocks.monotonic_s())
    clocks.wall_ahead_s, clocks.synchronised = years * 365 * 86_400.0, False  # what the kernel says after such a jump
    clocks.advance(10)
    assert not clock.look()
    assert clock.stamp(clocks.monotonic_s()) == pytest.approx(before_s + 10, abs=0.002)
    assert clock.now_ms() == round(clocks.true_s() * 1000)


def test_where_kernel_and_server_disagree_the_server_is_right() -> None:
    clocks = SimulatedClocks(started_at=NOON, wall_ahead_s=3600.0)
    clock = DeviceClock(clocks)
    clock.look()
    assert clock.learn(clocks.true_s(), asked_s=clock.boot_s(), answered_s=clock.boot_s())
    assert not clock.look()
    assert clock.now_ms() == round(clocks.true_s() * 1000)


def test_a_slow_answer_confirms_a_wall_clock_that_is_right() -> None:
    clocks = SimulatedClocks(started_at=NOON, synchronised=False)
    clock = DeviceClock(clocks)
    asked_s = clock.boot_s()
    said_s = clocks.true_s()
    clocks.advance(8)  # all of it on the way back
    assert clock.learn(said_s, asked_s=asked_s, answered_s=clock.boot_s())
    assert clock.now_ms() == round(clocks.true_s() * 1000)


def test_drift_and_slow_answers_do_not_move_what_is_known() -> None:
    clocks = SimulatedClocks(started_at=NOON)
    clock = DeviceClock(clocks)
    clock.look()
    known = clock.true_ms
    assert not clock.learn(clocks.true_s() + 1.5, asked_s=clock.boot_s(), answered_s=clock.boot_s() + 0.1)
    assert not clock.learn(clocks.true_s() + 900, asked_s=clock.boot_s(), answered_s=clock.boot_s() + 60)
    assert clock.true_ms == known


def test_this_machine_has_clocks() -> None:
    clocks = SystemClocks()
    assert clocks.boot_s() >= clocks.monotonic_s() - 1
    assert clocks.boot_id() == SystemClocks().boot_id()
    assert isinstance(clocks.is_synchronised(), bool)
    clock = DeviceClock(clocks)
    assert clock.stamp(clocks.monotonic_s()) == pytest.approx(clocks.wall_s(), abs=0.5)
