"""Somebody at a real terminal: waits for a question, types an answer."""

import os
import pty
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path

ROWS, COLUMNS = 40, 100
READ_BYTES = 4096


class Unanswered(AssertionError):
    """A question did not come, or the program did not end; the message has what stood on the screen."""


def converse(
    line: Sequence[str],
    answers: Sequence[tuple[str, str]],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limit_s: float,
) -> tuple[int, str]:
    """Run a command in a terminal of its own and answer its questions in their order; its exit code and its screen."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    # A password is asked for at the controlling terminal, whatever standard input is.
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *line],
        cwd=folder,
        env={**environment, "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        screen = _answer(ours, answers, give_up_at=time.monotonic() + limit_s)
        return process.wait(5), screen
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _answer(terminal: int, answers: Sequence[tuple[str, str]], *, give_up_at: float) -> str:
    """Until the program closes the terminal; all that it wrote."""
    waiting, screen, read_to = list(answers), "", 0
    while (text := _read(terminal, until=give_up_at)) is not None:
        screen += text
        if time.monotonic() > give_up_at:
            raise Unanswered(f"no end, and no {waiting[0][0] if waiting else 'question'!r}:\n{screen}")
        if waiting and waiting[0][0] in screen[read_to:]:
            read_to = len(screen)
            os.write(terminal, f"{waiting.pop(0)[1]}\n".encode())
    return screen.replace("\r\n", "\n")


def _read(terminal: int, *, until: float) -> str | None:
    """What came; nothing when it is time, None at the end."""
    ready, _, _ = select.select([terminal], [], [], max(0.0, until - time.monotonic()))
    if not ready:
        return ""
    with suppress(OSError):  # Linux reports the end of a terminal as an error
        return os.read(terminal, READ_BYTES).decode(errors="replace") or None
    return None


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
