"""Whether a device is worse with a new configuration than before. Pure: every moment and count is given."""

from __future__ import annotations

import enum
from collections import deque
from dataclasses import dataclass, field

from onlooker_client.agent.frame_counts import Counts, Drop
from onlooker_client.agent.remote.state_file import Baseline

SETTLE_PART = 1 / 3
"""Of a trial: a camera has so long for its first picture, and what is counted begins after it."""
LONGEST = 3
"""Times the length of a trial that a device waits for a line that is away."""
LEAST_FRAMES = 4
"""Fewer that were to be expected say nothing."""
WORSE = 0.5
NOT_ITS_FAULT = (Drop.CLOSED, Drop.QUOTA_EXCEEDED, Drop.STREAM_DISABLED, Drop.BAD_CREDENTIALS)
"""Frames that no configuration of the device would have brought an answer."""
WINDOW_S = 180.0
SAMPLE_EVERY_S = 5.0


class Verdict(enum.Enum):
    """What becomes of a trial."""

    GO_ON = "go on"
    KEEP = "keep"
    ROLL_BACK = "roll back"


@dataclass(frozen=True)
class TrialObservation:
    """A device at one moment."""

    at_s: float
    """Of the monotonic clock."""
    served: int
    """Frames that were answered, or needed no answer."""
    has_pictures: bool


def count_served(counts: Counts) -> int:
    others = sum(counts.dropped.get(reason.value, 0) for reason in NOT_ITS_FAULT)
    return counts.answered + counts.idle + others


@dataclass
class Performance:
    """What a device did in the last minutes."""

    _seen: deque[TrialObservation] = field(default_factory=deque)

    def see(self, now: TrialObservation) -> None:
        if self._seen and now.at_s - self._seen[-1].at_s < SAMPLE_EVERY_S:
            return
        self._seen.append(now)
        while now.at_s - self._seen[0].at_s > WINDOW_S:
            self._seen.popleft()

    def baseline(self, now: TrialObservation, fps: float) -> Baseline:
        first = self._seen[0] if self._seen else now
        over_s = now.at_s - first.at_s
        per_s = (now.served - first.served) / over_s if over_s >= SAMPLE_EVERY_S else 0.0
        return Baseline(per_s, fps, now.has_pictures)


@dataclass
class Trial:
    """From the moment at which the agent works with the new configuration."""

    before: Baseline
    length_s: float
    fps: float
    """That is asked for now."""
    began: TrialObservation
    is_other_camera: bool = False
    _settled: TrialObservation | None = None
    _pictures_s: float | None = None
    """When there last were pictures."""

    def judge(self, now: TrialObservation, *, is_line_up: bool) -> tuple[Verdict, str]:
        age_s = now.at_s - self.began.at_s
        if now.has_pictures:
            self._pictures_s = now.at_s
        if self._settled is None and age_s >= SETTLE_PART * self.length_s:
            self._settled = now
        if self._settled is None:
            return Verdict.GO_ON, ""
        if self._lacks_pictures(now):
            return Verdict.ROLL_BACK, f"The camera gave no pictures for {age_s:.0f} seconds."
        if age_s < self.length_s:
            return Verdict.GO_ON, ""
        worse = self._find_loss(self._settled, now)
        if worse and not is_line_up and age_s < LONGEST * self.length_s:
            return Verdict.GO_ON, ""  # a line that is away says nothing of the configuration
        return (Verdict.ROLL_BACK, worse) if worse else (Verdict.KEEP, "")

    def _lacks_pictures(self, now: TrialObservation) -> bool:
        """A camera that was away before, and is the same one, is not the configuration's fault."""
        if now.has_pictures or not (self.is_other_camera or self.before.had_pictures):
            return False
        last_s = self.began.at_s if self._pictures_s is None else self._pictures_s
        return now.at_s - last_s >= SETTLE_PART * self.length_s

    def _find_loss(self, since: TrialObservation, now: TrialObservation) -> str:
        """As a sentence; empty where it is no worse."""
        over_s = now.at_s - since.at_s
        before = self.before
        if before.fps <= 0 or over_s <= 0:
            return ""
        expected_per_s = before.served_per_s * min(1.0, self.fps / before.fps)
        if expected_per_s * over_s < LEAST_FRAMES:
            return ""
        per_s = (now.served - since.served) / over_s
        if per_s >= WORSE * expected_per_s:
            return ""
        return f"{per_s:.2g} frames a second were answered, where {expected_per_s:.2g} were to be expected."
