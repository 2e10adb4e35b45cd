"""A source that reconnects: cameras are reopened forever, with growing pauses; files just end."""

from __future__ import annotations

import enum
import random
import threading
import time
from dataclasses import dataclass
from typing import Callable

from onlooker_client.errors import SourceError
from onlooker_client.sources.kinds import describe, recognise
from onlooker_client.sources.live import LiveSource
from onlooker_client.sources.opencv import load_opencv
from onlooker_client.sources.opener import SourceOptions, begin_source
from onlooker_client.sources.playback import PlayedSource
from onlooker_client.sources.source import Picture

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 4.0
"""Short enough to be back within 10 seconds of the camera's return, long enough to disturb nobody."""
MOST_STUCK = 3
STEADY_S = 5.0
"""One that was open for so long begins with the shortest pause again."""
_ANY = SourceOptions()


class SourceState(enum.Enum):
    """How it is with a source."""

    OPENED = "opened"
    """It gave its first picture."""
    LOST = "lost"
    """It had been open, and broke."""
    WAITING = "waiting"
    """It can't be opened; said once for each reason."""


@dataclass(frozen=True)
class SourceEvent:
    """A change of state."""

    state: SourceState
    reason: str = ""


class Pauses:
    """How long to wait before the next try: longer each time, never quite the same."""

    def __init__(self, first_s: float = FIRST_PAUSE_S, longest_s: float = LONGEST_PAUSE_S) -> None:
        self._first_s, self._longest_s = first_s, longest_s
        self._next_s = first_s

    def next(self) -> float:
        pause_s, self._next_s = self._next_s, min(2 * self._next_s, self._longest_s)
        return pause_s * random.uniform(0.8, 1.2)  # noqa: S311 - no secret: spreads the tries of many devices

    def reset(self) -> None:
        self._next_s = self._first_s


class ReconnectingSource:
    """Reads like any source. `on_change` is called by the thread that reads."""

    def __init__(
        self, text: str, options: SourceOptions = _ANY, *, on_change: Callable[[SourceEvent], None] | None = None
    ) -> None:
        """Raises SourceError at once for what waiting does not mend: a wrong path, no OpenCV."""
        self._text = text
        self._wish = options
        self._on_change = on_change
        self._is_waited_for = recognise(text).is_waited_for
        self.name = describe(text)
        self.is_live = self._is_waited_for or text.strip() == "-"
        self._pauses = Pauses()
        self._opened_s: float | None = None
        self._said = ""
        self._lock = threading.Lock()
        self._closed = threading.Event()
        load_opencv()
        self._left: list[LiveSource | PlayedSource] = []
        """Closed, but still held by their drivers."""
        self._source: LiveSource | PlayedSource | None = None if self._is_waited_for else begin_source(text, self._wish)

    def read(self, due_s: float) -> Picture | None:
        while True:
            source = self._source or self._begin()
            if source is None:
                return None
            try:
                picture = source.read(due_s)
            except SourceError as error:
                if not self._is_waited_for:
                    raise
                self._lose(source, str(error))
                self._closed.wait(self._pauses.next())
                continue
            if picture is not None and self._opened_s is None:
                self._opened_s, self._said = time.monotonic(), ""
                self._say(SourceState.OPENED)
            return picture

    def close(self) -> None:
        with self._lock:
            self._closed.set()
            source = self._source
        if source is not None:
            source.close()

    @property
    def stuck_s(self) -> float:
        """For how long a driver or a disk has held a thread that should have gone on; 0 while all is well."""
        current = self._source
        return max((one.stuck_s for one in (*self._left, *([current] if current else []))), default=0.0)

    def _begin(self) -> LiveSource | PlayedSource | None:
        while self._stuck() >= MOST_STUCK and not self._closed.wait(LONGEST_PAUSE_S):
            pass  # one more would get stuck as well
        with self._lock:
            if not self._closed.is_set():
                self._source = begin_source(self._text, self._wish)
            return self._source

    def _stuck(self) -> int:
        self._left = [one for one in self._left if one.stuck_s]
        return len(self._left)

    def _lose(self, source: LiveSource | PlayedSource, reason: str) -> None:
        source.close()
        with self._lock:
            self._source = None
        if source.stuck_s:
            self._left.append(source)
        opened_s, self._opened_s = self._opened_s, None
        if opened_s is not None and time.monotonic() - opened_s >= STEADY_S:
            self._pauses.reset()
        if opened_s is not None:
            self._say(SourceState.LOST, reason)
        elif reason != self._said:
            self._said = reason
            self._say(SourceState.WAITING, reason)

    def _say(self, state: SourceState, reason: str = "") -> None:
        if self._on_change is not None:
            self._on_change(SourceEvent(state, reason))
