"""A machine whose clock is wrong does not serve, says why, and serves again once it is set."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from gateway_process import running_gateway
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
