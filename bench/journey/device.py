"""The device at the camera: a home of its own, the agent's commands as processes, and all that they printed."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.journey.terminal import converse

COMMAND_LIMIT_S = 120.0


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str
    seconds: float


@dataclass
class Running:
    """A command that goes on until it is told to stop."""

    process: "subprocess.Popen[bytes]"
    output: Path
    began_s: float
    """Unix time."""

    @property
    def text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None

    def stop(self, *, limit_s: float) -> tuple[int | None, float]:
        """SIGTERM, as a system does that shuts down: exit code (None: it had to be killed), and the seconds it took."""
        asked = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(limit_s), time.monotonic() - asked
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None, time.monotonic() - asked


@dataclass
class Device:
    """What somebody does at its terminal."""

    home: Path
    outputs: Path
    """Folder for what is printed."""
    written: list[Path] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of this machine but Python and the agent: no credentials, no proxies."""
        folders = f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return {"PATH": folders, "HOME": str(self.home), "LANG": "C.UTF-8", "COLUMNS": "100"}

    def do(self, name: str, line: Sequence[str], *, given: str = "") -> Done:
        """One command until it ends."""
        began = time.monotonic()
        ended = subprocess.run(
            list(line),
            cwd=self.home,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT_S,
            check=False,
        )
        self._new_output(name).write_text(f"$ {shlex.join(line)}\n{ended.stdout}{ended.stderr}", encoding="utf-8")
        return Done(ended.returncode, ended.stdout, ended.stderr, time.monotonic() - began)

    def converse(self, name: str, line: Sequence[str], answers: Sequence[tuple[str, str]]) -> Done:
        """One command at a terminal, with somebody who answers its questions."""
        began = time.monotonic()
        code, screen = converse(line, answers, folder=self.home, environment=self.environment, limit_s=COMMAND_LIMIT_S)
        self._new_output(name).write_text(f"$ {shlex.join(line)}\n{screen}", encoding="utf-8")
        return Done(code, screen, "", time.monotonic() - began)

    @contextmanager
    def running(self, name: str, line: Sequence[str]) -> Iterator[Running]:
        """One command beside all else; killed at the latest when the block ends."""
        output = self._new_output(name)
        with output.open("wb") as file:
            file.write(f"$ {shlex.join(line)}\n".encode())
            file.flush()
            process = subprocess.Popen(
                list(line), cwd=self.home, env=self.environment, stdout=file, stderr=subprocess.STDOUT
            )
        try:
            yield Running(process, output, time.time())
        finally:
            process.kill()
            process.wait()

    def _new_output(self, name: str) -> Path:
        self.outputs.mkdir(parents=True, exist_ok=True)
        self.written.append(self.outputs / f"{len(self.written) + 1}-{name}.txt")
        return self.written[-1]
