"""A machine whose clock is wrong does not serve, says why, and serves again once it is set."""

import asyncio
import time

import pytest

from onlooker import clock_check
from onlooker.clock_check import ClockCheck, outside
from onlooker.database import Pool
from onlooker.settings import Settings
from recorder_process import with_pool

pytestmark = pytest.mark.timeout(240)


def test_a_clock_is_compared_again_and_again(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_check, "LOOK_EVERY_S", 0.05)
    real = time.time

    async def act(pool: Pool) -> None:
        clock = ClockCheck(Settings(clock_limit_s=5))
        await clock.measure(pool)
        assert clock.is_right
        assert abs(clock.offset_s) < 1
        running = asyncio.create_task(clock.run(pool))
        monkeypatch.setattr(time, "time", lambda: real() - 20)
        assert not clock.is_right
        await asyncio.sleep(0.5)  # it is compared meanwhile
        assert not clock.is_right
        assert "s behind the database's" in clock.reason
        assert abs(clock.right_time() - real()) < 1
        monkeypatch.setattr(time, "time", real)
        async with asyncio.timeout(10):
            await clock.wait_until_right()
        assert clock.facts() == {}
        running.cancel()

    with_pool(database_url, act)


@pytest.mark.parametrize(
    ("offset_s", "took_s", "is_right"),
    [(4.9, 0, True), (-4.9, 0, True), (5.1, 0, False), (-5.1, 0, False), (6, 3, True)],
)
def test_what_a_slow_answer_explains_is_not_held_against_a_clock(
    offset_s: float, took_s: float, is_right: bool
) -> None:
    clock = ClockCheck(Settings(clock_limit_s=5))
    clock.note(time.time() - offset_s, asked_at=time.monotonic() - took_s / 2, took_s=took_s)
    assert clock.is_right is is_right


def test_a_machine_that_slept_is_compared_before_it_is_called_wrong(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The time that nobody can set stands still while a machine sleeps."""
    monkeypatch.setattr(clock_check, "LOOK_EVERY_S", 0.05)

    async def act(pool: Pool) -> None:
        clock = ClockCheck(Settings(clock_limit_s=5))
        clock.note(time.time() - 3600, asked_at=time.monotonic(), took_s=0)
        assert not clock.is_right
        running = asyncio.create_task(clock.run(pool))
        await clock.wait_until_right()
        await asyncio.sleep(0.2)
        running.cancel()

    with_pool(database_url, act)
    assert "the clock is wrong" not in caplog.text


def test_a_moment_between_question_and_answer_is_not_off() -> None:
    assert outside(5.0, earliest=4.0, latest=6.0) == 0
    assert outside(9.0, earliest=4.0, latest=6.0) == 3
    assert outside(1.0, earliest=4.0, latest=6.0) == -3


class TestTwoClocksThatDisagree:
    """Who is wrong is told by what both said before. The database was compared once, and agreed."""

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> ClockCheck:
        self.wall_s, self.monotonic_s = 1_000_000.0, 500.0
        monkeypatch.setattr("onlooker.clock_check.time.time", lambda: self.wall_s)
        monkeypatch.setattr("onlooker.clock_check.time.monotonic", lambda: self.monotonic_s)
        clock = ClockCheck(Settings())
        self.compare(clock, database_ahead_s=0)
        return clock

    def compare(self, clock: ClockCheck, *, database_ahead_s: float) -> None:
        clock.note(1_000_000.0 + (self.monotonic_s - 500.0) + database_ahead_s, asked_at=self.monotonic_s, took_s=0.0)

    def go_on(self, seconds: float, *, jump_s: float = 0.0) -> None:
        self.monotonic_s += seconds
        self.wall_s += seconds + jump_s

    def test_our_own_that_jumps_is_wrong(self, clock: ClockCheck) -> None:
        self.go_on(30, jump_s=40)
        assert not clock.is_right
        self.compare(clock, database_ahead_s=0)
        assert not clock.is_right

    def test_the_databases_that_jumps_does_not_stop_us(self, clock: ClockCheck) -> None:
        self.go_on(30)
        self.compare(clock, database_ahead_s=40)
        assert clock.is_right
        assert clock.right_time() == self.wall_s
        self.go_on(30)
        self.compare(clock, database_ahead_s=0)
        assert clock.is_right

    def test_both_that_are_set_together_are_right(self, clock: ClockCheck) -> None:
        self.go_on(30, jump_s=40)
        self.compare(clock, database_ahead_s=40)
        assert clock.is_right
        assert clock.right_time() == self.wall_s

    def test_ours_that_is_wrong_from_the_start_stays_so(self) -> None:
        clock = ClockCheck(Settings())
        now = time.monotonic()
        for _ in range(2):
            clock.note(time.time() + 40, asked_at=now, took_s=0.0)
            assert not clock.is_right
