"""The log: one line or JSON object for each event, without endless repetition, and figures as people read them."""

from __future__ import annotations

import enum
import json
import textwrap
import threading
import time
from datetime import datetime
from typing import Any, Callable

from onlooker_client.agent.frame_counts import Counts, Drop
from onlooker_client.scene import in_view
from onlooker_client.terminal import Terminal

AGAIN_S = 600.0
"""After this, what is still so is worth a line again."""
INDENT = 10
"""Columns that the time takes in a terminal."""
REMEMBERED = 100
"""Different lines; more are a flood of another kind."""


class LogLevel(enum.IntEnum):
    """How much it matters."""

    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


_COLOURS = {LogLevel.DEBUG: "grey", LogLevel.WARNING: "yellow", LogLevel.ERROR: "red"}


class AgentLog:
    """Writes from any thread. In a terminal a status stays beneath the lines."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        least: LogLevel = LogLevel.INFO,
        as_json: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._terminal = terminal
        self.least = least
        """What matters less is not written; may be changed at any time."""
        self._as_json = as_json
        self._clock = clock
        self._lock = threading.Lock()
        self._said: dict[str, float] = {}
        self._status = ""

    @property
    def has_status(self) -> bool:
        """Whether somebody sees the status beneath the lines."""
        return self._terminal.is_terminal and not self._as_json and self.least <= LogLevel.INFO

    def debug(self, event: str, text: str, **facts: Any) -> None:
        self._write(LogLevel.DEBUG, event, text, facts)

    def info(self, event: str, text: str, **facts: Any) -> None:
        self._write(LogLevel.INFO, event, text, facts)

    def warning(self, event: str, text: str, **facts: Any) -> None:
        self._write(LogLevel.WARNING, event, text, facts)

    def error(self, event: str, text: str, **facts: Any) -> None:
        self._write(LogLevel.ERROR, event, text, facts)

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

    def _write(self, level: LogLevel, event: str, text: str, facts: dict[str, Any]) -> None:
        if level < self.least:
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
                pass  # the reader has gone; the camera goes on

    def _line(self, level: LogLevel, event: str, text: str, facts: dict[str, Any]) -> str:
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


def format_duration(seconds: float) -> str:
    """Such as 3 min 12 s."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest_s = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest_s} s"
    hours, rest_min = divmod(minutes, 60)
    return f"{hours} h {rest_min} min" if hours < 48 else f"{hours // 24} days {hours % 24} h"


def format_frames(count: int) -> str:
    return f"{count:,} frame{'' if count == 1 else 's'}"


def format_people(count: int | None) -> str:
    said = "no answer" if count is None else in_view(count)
    return said[0].upper() + said[1:]


def format_latency(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def format_drops(dropped: dict[str, int]) -> str:
    """By reason, the most frequent first."""
    return ", ".join(f"{count:,} {name}" for name, count in sorted(dropped.items(), key=lambda item: -item[1]) if count)


def format_minute(before: Counts, after: Counts, over_s: float, latencies_s: list[float], *, here: bool = False) -> str:
    """What happened between two readings; `here`: on a device that computes itself."""
    answered, idle = after.answered - before.answered, after.idle - before.idle
    dropped = {name: count - before.dropped.get(name, 0) for name, count in after.dropped.items()}
    said = f"{answered / over_s:.1f} frames/s {'computed here' if here else 'answered'}"
    if latencies_s:
        said += f" in {format_latency(latencies_s[len(latencies_s) // 2])}"
    if not here:
        said += f", {(after.sent_bytes - before.sent_bytes) / over_s / 1000:.0f} KB/s"
    if idle:
        said += f"; {format_frames(idle)} not needed"
    if any(dropped.values()):
        said += f"; dropped: {format_drops(dropped)}"
    return said


def format_summary(counts: Counts, over_s: float, *, here: bool = False) -> str:
    """The last line."""
    done = "computed here" if here else "answered"
    said = f"Stopped after {format_duration(over_s)}: {format_frames(counts.grabbed)}, {counts.answered:,} {done}"
    if counts.idle:
        said += f", {counts.idle:,} not needed"
    lost = {name: count for name, count in counts.dropped.items() if name != Drop.STOPPED.value or count}
    return f"{said}; dropped: {format_drops(lost)}" if any(lost.values()) else f"{said}, none dropped"
