"""The log, for whoever runs the machine: a line or a JSON object each; the same is not said for ever."""

from __future__ import annotations

import enum
import json
import textwrap
import threading
import time
from datetime import datetime
from typing import Any, Callable

from onlooker_client.terminal import Terminal

AGAIN_S = 600.0
"""After this, what is still so is worth a line again."""
INDENT = 10
"""Columns that the time takes in a terminal."""
REMEMBERED = 100
"""Different lines; more are a flood of another kind."""


class Level(enum.IntEnum):
    """How much it matters."""

    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


_COLOURS = {Level.DEBUG: "grey", Level.WARNING: "yellow", Level.ERROR: "red"}


class Journal:
    """Writes from any thread. In a terminal a status stays beneath the lines."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        least: Level = Level.INFO,
        as_json: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._terminal = terminal
        self._least = least
        self._as_json = as_json
        self._clock = clock
        self._lock = threading.Lock()
        self._said: dict[str, float] = {}
        self._status = ""

    @property
    def has_status(self) -> bool:
        """Whether somebody sees the status beneath the lines."""
        return self._terminal.is_terminal and not self._as_json and self._least <= Level.INFO

    def debug(self, event: str, text: str, **facts: Any) -> None:
        self._write(Level.DEBUG, event, text, facts)

    def info(self, event: str, text: str, **facts: Any) -> None:
        self._write(Level.INFO, event, text, facts)

    def warning(self, event: str, text: str, **facts: Any) -> None:
        self._write(Level.WARNING, event, text, facts)

    def error(self, event: str, text: str, **facts: Any) -> None:
        self._write(Level.ERROR, event, text, facts)

    def warn_once(self, event: str, text: str, *, once: str | None = None, **facts: Any) -> None:
        """A warning that is not repeated while it is fresh; `once` stands for the text where that varies."""
        with self._lock:
            now, line = self._clock(), f"{event} {once or text}"
            if now - self._said.get(line, float("-inf")) < AGAIN_S:
                return
            if len(self._said) >= REMEMBERED:
                self._said.clear()
            self._said[line] = now
        self.warning(event, text, **facts)

    def forget(self) -> None:
        """What was said once may be said again."""
        with self._lock:
            self._said.clear()

    def show_status(self, text: str) -> None:
        """Replace the status beneath the lines; nothing where there is no terminal."""
        if self.has_status:
            with self._lock:
                self._status = text[: self._terminal.width - 1]
                self._terminal.replace_line(self._terminal.paint(self._status, "grey"))

    def close(self) -> None:
        """Leave the terminal with a clean line."""
        with self._lock:
            if self._status:
                self._terminal.replace_line("")
                self._status = ""

    def _write(self, level: Level, event: str, text: str, facts: dict[str, Any]) -> None:
        if level < self._least:
            return
        line = self._line(level, event, text, facts)
        with self._lock:
            try:
                if self._status:
                    self._terminal.replace_line("")
                self._terminal.say(line)
                if self._status:
                    self._terminal.replace_line(self._terminal.paint(self._status, "grey"))
            except (OSError, ValueError):
                pass  # whoever read this has gone; cameras go on

    def _line(self, level: Level, event: str, text: str, facts: dict[str, Any]) -> str:
        at = datetime.now().astimezone()
        if self._as_json:
            said = {"time": at.isoformat(timespec="milliseconds"), "level": level.name.lower(), "event": event}
            return json.dumps({**said, "message": text, **facts}, ensure_ascii=False)
        words = " ".join(text.split())
        if not self._terminal.is_terminal:
            return f"{at.isoformat(timespec='seconds')} {level.name} {words}"
        # A person sits before it, who knows the day and the place; words are not broken at the edge.
        lines = textwrap.wrap(words, max(self._terminal.width - INDENT, 20), break_on_hyphens=False)
        colour = _COLOURS.get(level)
        painted = [self._terminal.paint(line, colour) if colour else line for line in lines]
        return self._terminal.paint(f"{at:%H:%M:%S}  ", "grey") + ("\n" + " " * INDENT).join(painted)
