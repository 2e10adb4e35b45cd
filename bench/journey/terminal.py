"""Somebody at a real terminal: waits for a question, types an answer."""

import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
