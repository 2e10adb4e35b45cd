"""CPU time of processes, to the nanosecond where the kernel tells."""

import contextlib
import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import psutil

from testkit import Stack


def cpu_seconds(pids: list[int]) -> float:
    """CPU time that all threads of these processes have used."""
    return sum(map(_process_seconds, pids))


def _process_seconds(pid: int) -> float:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        # A thread that ends takes its figure along; the processes measured here keep theirs.
        nanoseconds = [int((task / "schedstat").read_text().split()[0]) for task in tasks]
    except (OSError, IndexError):
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)
    return sum(nanoseconds) / 1e9


def product_cpu_seconds(stack: Stack) -> dict[int, float]:
    """By process: of all of the product, and of those of PostgreSQL that serve it where they run on this machine."""
    query = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    backends = [row[0] for row in stack.execute(query) if _is_postgresql(row[0])]
    found: dict[int, float] = {}
    for pid in (stack.process.pid, *stack.children().values(), *backends):
        with contextlib.suppress(psutil.NoSuchProcess):
            found[pid] = cpu_seconds([pid])
    return found


def _is_postgresql(pid: int) -> bool:
    try:
        return "postgres" in Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return False


class Killer:
    """Kills `kills` times; between two kills the processes have a moment to come back."""

    def __init__(
        self,
        stack: Stack,
        names: list[str],
        *,
        kills: int,
        seed: int,
        pause_s: tuple[float, float] = (0.5, 2.0),
    ) -> None:
        self._stack = stack
        self._names = names
        self._random = random.Random(seed)
        self._pause_s = pause_s
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.target = kills
        self.killed: Counter[str] = Counter()

    @property
    def done(self) -> bool:
        return self.killed.total() >= self.target

    def start(self) -> None:
        self._thread.start()

    def wait(self) -> None:
        self._thread.join(self.target * (13 + self._pause_s[1]))

    def _run(self) -> None:
        # Every process is killed at least once where there are kills enough; the rest is chance.
        order = list(self._names)
        self._random.shuffle(order)
        while not self.done:
            time.sleep(self._random.uniform(*self._pause_s))
            self._await_all()
            name = order.pop() if order else self._random.choice(self._names)
            if self._stack.kill(name):
                self.killed[name] += 1
                print(f"killed {name}: {self.killed.total()} of {self.target}", file=sys.stderr, flush=True)

    def _await_all(self) -> None:
        """Until every process that may be killed runs."""
        give_up_at = time.monotonic() + 10
        while not set(self._names) <= self._stack.children().keys() and time.monotonic() < give_up_at:
            time.sleep(0.05)
