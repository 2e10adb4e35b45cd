"""A person at a terminal: a command runs in a pseudo-terminal, its text is read, answers are typed."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

QUICK = "from onlooker_client.doctor import examination; examination.SETTLE_S, examination.LOOK_S = 0.2, 0.8; "
"""Nobody waits for a test's camera to settle."""
COMMAND = (sys.executable, "-c", f"{QUICK}from onlooker_client.command.agent import main; main()")
PATIENCE_S = 30.0


def own_environment(folder: Path, others: Mapping[str, str]) -> dict[str, str]:
    """What a command is to know: nothing of the caller's settings, and a config of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    return kept | {"ONLOOKER_CONFIG": str(folder / "client.json")} | dict(others)


def run_agent(*arguments: str, folder: Path, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """`onlooker-agent` without a terminal."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        env=own_environment(folder, environment),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class TerminalCommand:
    """`onlooker-agent` with its arguments, until it ends or the block does."""

    def __init__(self, *arguments: str, folder: Path, environment: Mapping[str, str]) -> None:
        self.text = ""
        self._seen = 0
        self._status: int | None = None
        told = own_environment(folder, {"TERM": "xterm", **environment})
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores it
            os.chdir(folder)
            os.execve(sys.executable, [*COMMAND, *arguments], told)

    def __enter__(self) -> "TerminalCommand":
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._terminal)

    def answer(self, question: str, typed: str) -> None:
        """Wait for a question, and type an answer and Enter."""
        self.press(question, f"{typed}\r")

    def press(self, question: str, keys: str) -> None:
        """Wait for a question, and press some keys; not before it listens, which only a program could."""
        self.expect(question)
        time.sleep(0.2)
        os.write(self._terminal, keys.encode())

    def expect(self, text: str) -> None:
        """Wait until this is shown after what was expected last."""
        give_up_at = time.monotonic() + PATIENCE_S
        while text not in self.text[self._seen :]:
            if time.monotonic() > give_up_at or not self._read(0.2):
                raise AssertionError(f"{text!r} was not shown:\n{self.text}")
        self._seen = self.text.index(text, self._seen) + len(text)

    def end(self) -> int:
        """Exit code, once it has ended by itself."""
        give_up_at = time.monotonic() + PATIENCE_S
        while self._read(0.2):
            if time.monotonic() > give_up_at:
                raise AssertionError(f"It did not end:\n{self.text}")
        self._status = os.waitpid(self._pid, 0)[1]
        return os.waitstatus_to_exitcode(self._status)

    def _read(self, seconds: float) -> bool:
        """False once there is nothing more to come."""
        if select.select([self._terminal], [], [], seconds)[0]:
            try:
                piece = os.read(self._terminal, 65536)
            except OSError:  # Linux says so at the end
                return False
            self.text += piece.decode()
            return bool(piece)
        return True
