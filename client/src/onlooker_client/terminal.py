"""What people see in a terminal: colour where it is one, plain text where it is a pipe or a log."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import TextIO

_COLOURS = {"green": "32", "yellow": "33", "red": "31", "grey": "90", "bold": "1"}


@dataclass(frozen=True)
class Terminal:
    """One stream of text."""

    out: TextIO
    is_terminal: bool
    has_colour: bool
    has_unicode: bool

    @staticmethod
    def of(out: TextIO | None = None) -> Terminal:
        """Follows NO_COLOR and TERM=dumb."""
        out = out or sys.stdout
        is_terminal = out.isatty() and os.environ.get("TERM") != "dumb"
        has_unicode = "utf" in (getattr(out, "encoding", None) or "").lower()
        return Terminal(out, is_terminal, is_terminal and not os.environ.get("NO_COLOR"), has_unicode)

    @property
    def width(self) -> int:
        return min(shutil.get_terminal_size((80, 24)).columns, 100)

    def paint(self, text: str, colour: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.has_colour else text

    def say(self, text: str = "") -> None:
        self.out.write(f"{text}\n")
        self.out.flush()

    def replace_line(self, text: str) -> None:
        """Write over the line that the cursor is in; only in a terminal."""
        if self.is_terminal:
            self.out.write(f"\r\x1b[2K{text}")
            self.out.flush()

    def good(self, text: str) -> None:
        self.say(f"  {self.paint(self._sign('✓', 'ok'), 'green')} {text}")

    def warn(self, text: str) -> None:
        self.say(f"  {self.paint('!', 'yellow')} {text}")

    def bad(self, text: str) -> None:
        self.say(f"  {self.paint(self._sign('✗', 'x'), 'red')} {text}")

    def _sign(self, sign: str, plain: str) -> str:
        return sign if self.has_unicode else plain
