"""Progress of a long job: a bar in a terminal, an occasional line elsewhere."""

from __future__ import annotations

import time
from collections import deque
from typing import Callable

from onlooker_client.bulk.plan import clock
from onlooker_client.terminal import Terminal

BAR_AT_MOST, BAR_AT_LEAST = 30, 8
DRAW_EVERY_S = 0.1
SAY_EVERY_S = 10.0
RATE_OVER_S = 10.0


class Progress:
    """Told after each frame; draws when it is time to."""

    def __init__(
        self, terminal: Terminal, *, from_s: float, to_s: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._terminal = terminal
        self._from_s, self._to_s = from_s, to_s
        self._now = now
        self._marks: deque[tuple[float, float, int]] = deque(maxlen=400)
        self._drawn_at = now() if not terminal.is_terminal else 0.0
        self.frames = 0
        self.at_s = from_s
        """Position in the video, after the last answered frame."""

    def advance(self, at_s: float, people: int) -> None:
        self.frames += 1
        self.at_s = at_s
        now = self._now()
        if not self._marks or now - self._marks[-1][0] >= DRAW_EVERY_S / 2:
            self._mark(now)
        if now - self._drawn_at >= (DRAW_EVERY_S if self._terminal.is_terminal else SAY_EVERY_S):
            self._drawn_at = now
            self._draw(people)

    def note(self, text: str) -> None:
        """In place of the bar, while there is nothing to draw."""
        if self._terminal.is_terminal:
            room = self._terminal.width - 3
            shown = text if len(text) <= room else f"{text[: room - 3]}..."
            self._terminal.replace_line(f"  {self._terminal.paint(shown, 'yellow')}")
        elif self._now() - self._drawn_at >= SAY_EVERY_S:
            self._drawn_at = self._now()
            self._terminal.say(text)

    def end(self) -> None:
        """Leave an empty line."""
        self._terminal.replace_line("")

    def _mark(self, now: float) -> None:
        self._marks.append((now, self.at_s, self.frames))
        while now - self._marks[0][0] > RATE_OVER_S:
            self._marks.popleft()

    def _speed(self) -> tuple[float, float]:
        """Frames a second, and seconds of video a second."""
        (then, at_s, frames), now = self._marks[0], self._marks[-1]
        span_s = now[0] - then
        return ((now[2] - frames) / span_s, (now[1] - at_s) / span_s) if span_s > 0 else (0.0, 0.0)

    def _draw(self, people: int) -> None:
        fps, times = self._speed()
        known = self._to_s > self._from_s
        share = min(1.0, (self.at_s - self._from_s) / (self._to_s - self._from_s)) if known else 0.0
        place = f"{clock(self.at_s)} of {clock(self._to_s)}" if known else clock(self.at_s)
        left = f"{clock((self._to_s - self.at_s) / times)} left" if known and times > 0 else ""
        seen = "1 person" if people == 1 else f"{people} people"
        words = [place, f"{fps:.0f} frames/s", f"{times:.1f} x" if times else "", left, seen]
        text = "   ".join(word for word in words if word)
        percent = f"{share:4.0%} " if known else ""
        if self._terminal.is_terminal:
            across = self._terminal.width - 1
            text = text[: max(0, across - len(percent) - 3)]
            room = min(BAR_AT_MOST, across - len(text) - len(percent) - 5)
            self._terminal.replace_line(f"  {percent}{self._bar(share, room) if known else ''}{text}")
        else:
            self._terminal.say(f"{percent.strip()} {text}".strip())

    def _bar(self, share: float, room: int) -> str:
        if room < BAR_AT_LEAST:
            return " "
        full, empty = ("━", "─") if self._terminal.has_unicode else ("#", ".")
        done = round(share * room)
        return f"{self._terminal.paint(full * done, 'green')}{self._terminal.paint(empty * (room - done), 'grey')}  "
