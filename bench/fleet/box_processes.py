"""The processes of a run's boxes, as the drill orders them about."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.lib.product import ROOT
from testkit import Stack

MOST = 10
END_LIMIT_S = 60.0


@dataclass
class BoxProcesses:
    """A box stays where it enrolled."""

    processes: list[subprocess.Popen[str]]
    _home: dict[str, int] = field(default_factory=dict)

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self.processes]

    def enrol(self, names: Sequence[str], code: str) -> dict[str, dict[str, str]]:
        for name in names:
            self._home[name] = len(self._home) % len(self.processes)
        return self.order("enrol", names, code=code)

    def order(self, order: str, names: Sequence[str], **given: str) -> dict[str, Any]:
        """To all processes at once; what each box says."""
        of_process: dict[int, list[str]] = {}
        for name in names:
            of_process.setdefault(self._home[name], []).append(name)
        with ThreadPoolExecutor(max(1, len(of_process))) as threads:
            asked = [threads.submit(self._ask, number, order, some, given) for number, some in of_process.items()]
            return {name: said for one in asked for name, said in one.result().items()}

    def _ask(self, number: int, order: str, names: list[str], given: dict[str, str]) -> dict[str, Any]:
        process = self.processes[number]
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"order": order, "boxes": names, "given": given}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"a process with {len(names)} boxes ended while it was told to {order}")
        said: dict[str, Any] = json.loads(line)
        return said


@contextmanager
def box_processes(stack: Stack, folder: Path, *, count: int, trial_s: float) -> Iterator[BoxProcesses]:
    """Until the block ends; what boxes print goes to a file."""
    assert count <= MOST
    said = {"folder": str(folder), "console_url": stack.console_url, "ca_file": stack.ca_file, "trial_s": trial_s}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    environment |= {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with (folder / "boxes.log").open("wb") as log:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "bench.fleet.box_program", json.dumps(said)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            for _ in range(count)
        ]
    try:
        yield BoxProcesses(processes)
    finally:
        for process in processes:
            if process.stdin:
                process.stdin.close()
        for process in processes:
            try:
                process.wait(END_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
