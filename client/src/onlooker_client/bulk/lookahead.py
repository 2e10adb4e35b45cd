"""How many frames may be under way: one on a short way, several on a long one, so that the server never waits."""

from __future__ import annotations

import math
from collections import deque
from statistics import median

LEARN_FROM = 10
"""Answers, one after the other, that show how long the way is."""
WANTED_FPS = 90.0
"""By default the server takes 100 requests a second from a stream."""
MOST_FRAMES = 8


class Lookahead:
    """Pure: the clock is given. A server that refuses for the moment gets one frame at a time from then on."""

    def __init__(self) -> None:
        self.frames = 1
        self._sent_at: deque[float] = deque(maxlen=MOST_FRAMES)
        self._took_s: list[float] = []
        self._may_grow = True

    def take_sent(self, now: float) -> None:
        self._sent_at.append(now)

    def take_answer(self, now: float) -> None:
        if self._may_grow and len(self._took_s) < LEARN_FROM:
            self._took_s.append(now - self._sent_at[-1])
            if len(self._took_s) == LEARN_FROM:
                self.frames = max(1, min(MOST_FRAMES, math.ceil(median(self._took_s) * WANTED_FPS)))

    def narrow(self) -> None:
        self._may_grow, self.frames = False, 1

    def pause_s(self, now: float) -> float:
        """Before the next is sent. One at a time needs none: if it is too quick, it is refused, and sent again."""
        if self.frames == 1 or not self._sent_at:
            return 0.0
        return max(0.0, self._sent_at[-1] + 1 / WANTED_FPS - now)
