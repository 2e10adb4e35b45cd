"""A machine whose clock is wrong does not serve, says why, and serves again once it is set."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from gateway_process import running_gateway
from onlooker import clock_check
from onlooker.clock_check import ClockCheck, outside
from onlooker.database import Pool
from onlooker.settings import Settings
from recorder_process import with_pool
from testkit import Stack, TestStream
from wire import assert_problem, dummy, wait_for

pytestmark = pytest.mark.timeout(240)

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
needs_library = pytest.mark.skipif(LIBRARY is None, reason="Debian's libfaketime is not installed")


class ShiftedClock:
    """The clock of a process, as a file that libfaketime reads."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "shift"
        self.shift(0)

    def shift(self, seconds: int) -> None:
        self._file.write_text(f"{seconds:+d}\n")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }


@needs_library
def test_a_gateway_refuses_frames_until_its_clock_is_set(stack: Stack, stream: TestStream, tmp_path: Path) -> None:
    clock = ShiftedClock(tmp_path)
    with (
        running_gateway(stack, **clock.environment) as url,
        httpx2.Client(base_url=url, auth=stream.auth, timeout=30) as client,
    ):
        assert dummy(client).status_code == 201
        log = stack.home / "second-gateway.log"
        clock.shift(60)
        ready = wait_for(lambda: client.get("/readyz"), lambda got: got.status_code == 503, limit_s=60)
        assert ready.json()["checks"] == {"bus": True, "database": True, "clock": False}
        assert re.search(r"clock is (59|60)\.\d s ahead of the database's.*NTP", ready.json()["reason"])
        refusal = dummy(client)
        assert_problem(refusal, 503, "overloaded")
        assert "clock" in refusal.json()["detail"]
        assert refusal.headers["retry-after"] == "30"
        wait_for(log.read_text, lambda text: "the clock is wrong" in text)
        clock.shift(0)
        wait_for(lambda: client.get("/readyz"), lambda got: got.status_code == 200, limit_s=60)
        assert dummy(client).status_code == 201
        wait_for(log.read_text, lambda text: "the clock is right again" in text)
    assert log.read_text().count("the clock is wrong") == 1
    assert "a worker's clock is wrong" not in log.read_text()


@contextmanager
def running_worker(stack: Stack, **environment: str) -> Iterator[None]:
    """One more, which has the clock that it is given."""
    role = {
        "ONLOOKER_NATS_USER": "worker-1",
        "ONLOOKER_NATS_PASSWORD": stack.password("worker-1"),
        "ONLOOKER_NATS_URL": stack.setting("nats_url"),
        "ONLOOKER_WORKER_NAME": "astray",
        "ONLOOKER_WORKER_SERVICES": "dummy",
        "ONLOOKER_MONITORING_PORT": "0",
        "ONLOOKER_CONFINEMENT": "off",  # or the computing process could not read the file with the time
    }
    with (stack.home / "astray.log").open("wb") as log:
        command = [sys.executable, "-m", "onlooker", "worker"]
        process = subprocess.Popen(command, env=os.environ | role | environment, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@needs_library
def test_a_worker_gets_no_jobs_until_its_clock_is_set(stack: Stack, tmp_path: Path) -> None:
    clock = ShiftedClock(tmp_path)
    clock.shift(-90)
    usual = int(stack.setting("workers"))

    def seen() -> tuple[float, float]:
        """How many workers the gateway has, and how far it thinks that this one is off."""
        found = dict(
            re.findall(r"^(onlooker_\w+)(?:\{worker=\"astray\"\})? (\S+)$", stack.metrics("gateway"), re.MULTILINE)
        )
        return float(found["onlooker_live_workers"]), float(found.get("onlooker_worker_clock_offset_seconds", 0))

    with running_worker(stack, **clock.environment):
        live, off_s = wait_for(seen, lambda found: found[1] != 0, limit_s=60)
        assert live == usual
        assert -91.5 < off_s < -85
        clock.shift(0)
        assert wait_for(seen, lambda found: found[0] == usual + 1, limit_s=60) == (usual + 1, 0)
    wait_for(seen, lambda found: found[0] == usual, limit_s=30)


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
