"""One drill as a process group of its own: its log, its limit, its verdict."""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from bench.drills.recipes import DrillForm
from bench.lib.product import ROOT

GRACE_S = 20.0
"""How long a drill has to clean up after SIGTERM."""
REMAINS_S = 5.0
MARK = "DRILL_MARK"
"""The variable by which processes are known that left the group of their drill, such as a database's."""
FIGURE_LENGTH = 90
FEW_FAILURES = 15
_GIVEN = re.compile(r"^(ok|seed)$|_target$|_factor$")
"""Members of a drill's last line that say what was asked, not what was found."""
_TEST = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class DrillVerdict:
    """How a drill ended."""

    name: str
    seconds: float
    ok: bool
    words: str
    figure: str = ""
    log: Path | None = None
    is_left_out: bool = False
    by_itself: bool = False
    """Whether it, or some tests of it, failed beside others and were then run once more."""


@dataclass
class Execution:
    """A drill's process; `stop` may be called from another thread."""

    drill: DrillForm
    log: Path
    command: Sequence[str]
    grace_s: float = GRACE_S
    _mark: str = field(default_factory=lambda: secrets.token_hex(8))
    _process: subprocess.Popen[bytes] | None = None
    _is_stopped: bool = False

    def run(self) -> DrillVerdict:
        began = time.monotonic()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=os.environ | {MARK: self._mark},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if self.drill.shown else log,
                start_new_session=True,
            )
            tail: deque[bytes] = deque(maxlen=1)
            assert self._process.stdout
            reader = threading.Thread(target=self._copy, args=(self._process.stdout, log, tail), daemon=True)
            reader.start()
            if self._is_stopped:  # between the start and now
                self.stop()
            code = self._await_end()
            reader.join(REMAINS_S)
        last_line = tail[0].decode(errors="replace").strip() if tail else ""
        ok, words = judge(code, last_line)
        if self._is_stopped:
            ok, words = False, "ended with the run"
        elif code is None:
            words = f"ended at its limit of {self.drill.limit_s:.0f} s"
        return DrillVerdict(self.drill.name, time.monotonic() - began, ok, words, figure_of(last_line), self.log)

    def stop(self) -> None:
        self._is_stopped = True
        if self._process:
            _signal_group(self._process.pid, signal.SIGTERM)

    def _await_end(self) -> int | None:
        """Its exit code; None where it had to be killed. Nothing of it is left then."""
        assert self._process
        code = None
        try:
            code = self._process.wait(self.drill.limit_s)
        except subprocess.TimeoutExpired:
            _signal_group(self._process.pid, signal.SIGTERM)
        if code is None or self._is_stopped:  # its first process may end before those that it started
            self._await_group()
        _signal_group(self._process.pid, signal.SIGKILL)
        self._process.wait()
        _kill_marked(self._mark)
        return code

    def _await_group(self) -> None:
        """Until all of it has cleaned up after itself, or had the time to."""
        assert self._process
        give_up_at = time.monotonic() + self.grace_s
        while time.monotonic() < give_up_at:
            self._process.poll()  # else it stays as a zombie
            if not _signal_group(self._process.pid, 0):
                return
            time.sleep(0.05)

    def _copy(self, output: BinaryIO, log: BinaryIO, tail: deque[bytes]) -> None:
        with output:
            for line in output:
                log.write(line)
                log.flush()
                if line.strip():
                    tail.append(line)
                if self.drill.shown:
                    sys.stdout.buffer.write(line)
                    sys.stdout.buffer.flush()


def judge(code: int | None, last_line: str) -> tuple[bool, str]:
    """A drill is ok if its exit code is 0 and the JSON object that it ends with, if any, does not say otherwise."""
    if code != 0:
        return False, f"exit code {code}"
    figures = _json_object(last_line)
    if "ok" in figures and figures["ok"] is not True:
        return False, f'its last line has "ok": {json.dumps(figures["ok"])}'
    return True, "ok"


def figure_of(last_line: str) -> str:
    """What fits into a table of the figures, or of the line; what went wrong comes first."""
    figures = _json_object(last_line)
    words = [f"{key} {value}" for key, value in figures.items() if _is_short(value) and not _GIVEN.search(key)]
    text = ", ".join(sorted(words, key=lambda word: not word.startswith("reason"))) if figures else last_line
    return text if len(text) <= FIGURE_LENGTH else text[: FIGURE_LENGTH - 3] + "..."


def failed_tests(log: Path) -> list[str]:
    """What pytest's summary names."""
    return sorted(set(_TEST.findall(log.read_text(encoding="utf-8", errors="replace"))))


def _is_short(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) <= FIGURE_LENGTH


def _json_object(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _signal_group(group: int, number: int) -> bool:
    """Whether there is such a group."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _kill_marked(mark: str) -> None:
    """Processes that the drill left behind in groups of their own."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
        except OSError:  # it has ended, or is another account's
            continue
