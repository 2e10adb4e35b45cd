"""The line in the corner: time, frames a second, how old the picture is, how many people are in view."""

from __future__ import annotations

import time
from collections import deque
from datetime import datetime
from typing import Callable

from onlooker_client.moments import read_moment
from onlooker_client.preview.people import Answer
from onlooker_client.scene import count_people

OVER_S = 3.0
"""Frames of so many seconds make the rate."""
LIVE_S = 60.0
"""What is older is a recording; its age says nothing."""


class Caption:
    """Remembers when the last frames were taken."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._taken: deque[float] = deque(maxlen=200)

    def read(self, answer: Answer) -> str:
        """For the next answer."""
        taken_at = read_taken_at(answer)
        words = []
        if taken_at is not None:
            words.append(taken_at.strftime("%H:%M:%S"))
            words.append(f"{self._rate(taken_at.timestamp()):.0f} fps")
            age_s = self._clock() - taken_at.timestamp()
            if 0 <= age_s < LIVE_S:
                words.append(f"{age_s * 1000:.0f} ms" if age_s < 1 else f"{age_s:.1f} s")
        people = count_people(answer)
        words.append(f"{people} {'person' if people == 1 else 'people'}")
        return "   ".join(words)

    def _rate(self, taken_s: float) -> float:
        if self._taken and not 0 < taken_s - self._taken[-1] < OVER_S:
            self._taken.clear()
        self._taken.append(taken_s)
        while taken_s - self._taken[0] > OVER_S:
            self._taken.popleft()
        span_s = taken_s - self._taken[0]
        return (len(self._taken) - 1) / span_s if span_s > 0 else 0.0


def read_taken_at(answer: Answer) -> datetime | None:
    """When the picture was taken, as the answer says it."""
    try:
        return read_moment(str(answer.get("timestamp", "")))
    except ValueError:
        return None
