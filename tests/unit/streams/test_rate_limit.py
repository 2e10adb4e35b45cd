"""The token bucket against a ten-line oracle, in one process and over several."""

import multiprocessing
import os
import signal
import struct
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import Problem
from onlooker.settings import SettingsError
from onlooker.streams.rate_limit import MemoryTable, RateLimit, Table
from onlooker.streams.shared_table import WAYS, SharedTable

CLOCK = "onlooker.streams.rate_limit.time.monotonic"
processes = multiprocessing.get_context("fork")


class Oracle:
    """Tokens left by stream."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._levels: dict[int, tuple[float, float]] = {}

    def level(self, stream_id: int, now: float) -> float:
        level, then = self._levels.get(stream_id, (float(self._burst), now))
        return min(self._burst, level + (now - then) * self._rate)

    def take(self, stream_id: int, now: float, taken: bool) -> None:
        self._levels[stream_id] = (self.level(stream_id, now) - taken, now)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture
def tables(folder: Path) -> Iterator[list[SharedTable]]:
    """One file, opened twice."""
    path = folder / os.urandom(4).hex()
    opened = [SharedTable(path, buckets=4) for _ in range(2)]
    yield opened
    for table in opened:
        table.close()


sends = st.lists(st.tuples(st.floats(0, 2), st.integers(1, 3), st.integers(0, 1)), max_size=80)


@pytest.mark.parametrize("shared", [False, True], ids=["memory", "shared"])
@given(sends=sends, burst=st.integers(1, 5), rate=st.floats(0.5, 10))
def test_a_stream_gets_what_burst_and_rate_allow_and_no_more(
    folder: Path, shared: bool, sends: list[tuple[float, int, int]], burst: int, rate: float
) -> None:
    """Whichever of two gateways its requests reach; another stream changes nothing."""
    tables: list[Table] = [MemoryTable()] * 2
    if shared:
        path = folder / os.urandom(8).hex()
        tables = [SharedTable(path, buckets=1) for _ in range(2)]
    gateways = [RateLimit(per_second=rate, burst=burst, table=table) for table in tables]
    oracle, now = Oracle(rate, burst), 100.0
    for gap, stream_id, gateway in sends:
        now += gap
        level = oracle.level(stream_id, now)
        with patch(CLOCK, return_value=now):
            wait_s = gateways[gateway].wait_s(stream_id)
        if abs(level - 1) > 1e-6:
            assert (wait_s == 0) == (level >= 1)
            assert wait_s == pytest.approx(max(1 - level, 0) / rate, abs=1e-6)
        oracle.take(stream_id, now, wait_s == 0)
    for table in tables:
        if isinstance(table, SharedTable):
            table.close()
            path.unlink(missing_ok=True)


def test_streams_do_not_affect_one_another() -> None:
    rates = RateLimit(per_second=1, burst=1)
    rates.take(1)
    with pytest.raises(Problem) as refused:
        rates.take(1)
    assert refused.value.headers["Retry-After"] == "1"
    rates.take(2)


Taken = tuple[float, float, int, float]
"""Before and after a process's first try, how much it took, and when it last tried in vain."""


def _take(path: Path, barrier: Barrier, counts: "multiprocessing.Queue[Taken]") -> None:
    """Take for a second, then what is left."""
    rates = RateLimit(per_second=500, burst=500, table=SharedTable(path))
    barrier.wait()
    began = time.monotonic()
    taken = int(rates.wait_s(7) == 0)
    first_at = tried_at = time.monotonic()
    refused = False
    while tried_at < began + 1 or not refused:
        tried_at = time.monotonic()
        refused = rates.wait_s(7) > 0
        taken += not refused
    counts.put((began, first_at, taken, tried_at))


@pytest.mark.parametrize("gateways", [1, 4])
def test_processes_together_take_the_whole_limit_and_no_more(folder: Path, gateways: int) -> None:
    counts: multiprocessing.Queue[Taken] = processes.Queue()
    barrier = processes.Barrier(gateways)
    path = folder / f"together-{gateways}"
    started = [processes.Process(target=_take, args=(path, barrier, counts)) for _ in range(gateways)]
    for one in started:
        one.start()
    found = [counts.get(timeout=30) for _ in started]
    for one in started:
        one.join()
    ended = time.monotonic()
    began, first_at = min(one[0] for one in found), min(one[1] for one in found)
    taken, tried_at = sum(one[2] for one in found), max(one[3] for one in found)
    assert 500 + 500 * (tried_at - first_at) - 1 <= taken <= 500 + 500 * (ended - began) + 1


def _die_inside(path: Path) -> None:
    def die(number: float) -> float:
        os.kill(os.getpid(), signal.SIGKILL)
        return number

    SharedTable(path, buckets=4).update(1, die)


def test_a_process_that_is_killed_inside_the_lock_leaves_it_and_its_tokens(tables: list[SharedTable]) -> None:
    path = Path(f"/proc/self/fd/{tables[0]._file.descriptor}").readlink()
    RateLimit(per_second=1, burst=2, table=tables[0]).take(1)
    victim = processes.Process(target=_die_inside, args=(path,))
    victim.start()
    victim.join()
    assert victim.exitcode == -signal.SIGKILL
    rates = RateLimit(per_second=1, burst=2, table=tables[1])
    began = time.monotonic()
    with patch("onlooker.streams.shared_table.LOCK_LIMIT_S", 20):
        assert rates.wait_s(1) == 0
    assert time.monotonic() - began < 10
    assert rates.wait_s(1) > 0


def _stop_inside(path: Path) -> None:
    def stop(number: float) -> float:
        os.kill(os.getpid(), signal.SIGSTOP)
        return number

    SharedTable(path, buckets=1).update(1, stop)


def test_a_process_that_is_stopped_inside_the_lock_does_not_stop_the_others(folder: Path) -> None:
    path = folder / "stopped"
    table = SharedTable(path, buckets=1)
    stopped = processes.Process(target=_stop_inside, args=(path,))
    stopped.start()
    assert stopped.pid
    os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WNOWAIT)
    try:
        rates = RateLimit(per_second=1, burst=1, table=table)
        began = time.monotonic()
        assert rates.wait_s(1) == 0
        assert rates.wait_s(1) > 0
        assert time.monotonic() - began < 1
    finally:
        stopped.kill()
        stopped.join()
        table.close()


def test_a_full_table_forgets_the_stream_that_has_sent_least(folder: Path) -> None:
    table = SharedTable(folder / "full", buckets=1)
    rates = RateLimit(per_second=0.001, burst=3, table=table)
    for stream_id in range(1, WAYS + 1):
        for _ in range(1 if stream_id == 5 else 2):
            rates.take(stream_id)
    rates.take(100)
    waits = {stream_id: [rates.wait_s(stream_id) > 0 for _ in range(2)] for stream_id in (1, 8, 100)}
    assert waits == {1: [False, True], 8: [False, True], 100: [False, False]}
    table.close()


@given(st.binary(min_size=16 * WAYS, max_size=16 * WAYS), st.integers(0, 2**64 - 2))
def test_whatever_a_file_contains_no_stream_is_refused_for_longer_than_its_burst(
    folder: Path, damage: bytes, key: int
) -> None:
    path = folder / "damaged"
    entry = struct.pack("=Qd", key + 1, struct.unpack("=d", damage[:8])[0])
    path.write_bytes((entry + damage)[: 16 * WAYS])
    table = SharedTable(path, buckets=1)
    rates = RateLimit(per_second=10, burst=5, table=table)
    assert rates.wait_s(key) <= 5 / 10 + 1.1
    table.close()


def test_a_file_of_another_size_is_filled_up_and_one_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rates"
    SharedTable(path).close()
    assert path.stat().st_mode & 0o077 == 0
    os.truncate(path, 10)
    table = SharedTable(path)
    RateLimit(per_second=1, burst=1, table=table).take(1)
    table.close()
    with pytest.raises(SettingsError, match="ONLOOKER_HOME"):
        SharedTable(path / "below")
