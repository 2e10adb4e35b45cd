"""Reads pictures at a steady rate, and decides for each whether it is delivered."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Callable

from onlooker_client.agent.capture.motion import MotionDetector
from onlooker_client.agent.capture.pace import Pace
from onlooker_client.agent.delivery import Delivery, PreparedFrame
from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.status.state import CameraMonitor
from onlooker_client.errors import SourceError
from onlooker_client.sources.condition import ConditionMonitor
from onlooker_client.sources.opencv import load_opencv
from onlooker_client.sources.source import Picture, Source

cv2 = load_opencv()

JUDGE_EVERY_S = 0.5
"""How often it is looked whether the picture is black or frozen, which is told after seconds only."""


@dataclass
class Grabber:
    """One thread that reads the source until it ends or is closed."""

    source: Source
    camera: CameraMonitor
    delivery: Delivery
    pace: Pace
    tally: Tally
    is_closed: Callable[[], bool]
    """Whether the stream is closed now: then a picture shows whether the camera works, and nothing else is computed."""
    ended: Callable[[], None]
    """Called when there are no more pictures, for whatever reason."""
    is_over: bool = False
    failure: str = ""
    """Why it is over, where that was no end of a video."""
    is_broken: bool = False
    """Whether the failure is a fault of this program."""
    _thread: threading.Thread | None = None

    def start(self) -> None:
        cv2.setNumThreads(1)  # more would wait for one another by spinning: a fifth of all CPU time
        self._detector = MotionDetector()
        self._judged_at = float("-inf")
        self._monitor = ConditionMonitor(time.monotonic(), is_live=self.source.is_live)
        self._thread = threading.Thread(target=self._run, name="grab", daemon=True)
        self._thread.start()

    @property
    def has_begun(self) -> bool:
        return self._thread is not None

    def join(self, limit_s: float) -> None:
        """Wait until the last picture is counted; the source must be closed."""
        if self._thread is not None:
            self._thread.join(limit_s)

    @property
    def light(self) -> float | None:
        """How bright the last picture was, 0 to 255."""
        return self._monitor.light if self.has_begun else None

    def check(self, now: float) -> None:
        """Tell the camera's watch how the picture is, also where none comes."""
        judgement = self._monitor.check(now)
        self.camera.judge(judgement.condition.value, judgement.since_s)

    def _run(self) -> None:
        try:
            while True:
                picture = self.source.read(self.pace.next_due(time.monotonic()))
                if picture is None:
                    break
                self._take(picture)
        except SourceError as error:
            self.failure = str(error)
        except Exception as error:  # noqa: BLE001 - the edge of a thread
            self.failure, self.is_broken = f"{type(error).__name__}: {error}", True
        finally:
            self.is_over = True
            self.ended()

    def _take(self, picture: Picture) -> None:
        """Each picture is counted once: idle, dropped for a reason, or delivered."""
        now = time.monotonic()
        reason, frame = None, PreparedFrame(None)
        try:
            self._judge(picture.pixels, now)
            is_closed = self.is_closed()
            is_wanted = is_closed or self._wants(picture.pixels, now)
            reason = self._refusal(now, is_closed=is_closed) if is_wanted else None
            if is_wanted and reason is None:
                frame = self.delivery.prepare(picture.pixels)
        except (cv2.error, SourceError):
            is_wanted, reason = True, Drop.BROKEN_PICTURE
        if not is_wanted:
            self.tally.skip_idle()
        elif reason is not None:
            self.tally.drop(reason)
        else:
            self.pace.send(now)
            self.delivery.take(picture, frame, now)

    def _refusal(self, now: float, *, is_closed: bool) -> Drop | None:
        return Drop.CLOSED if is_closed else self.delivery.refusal(now)

    def _judge(self, pixels: Any, now: float) -> None:
        """How the camera is."""
        size_px = (pixels.shape[1], pixels.shape[0])
        if self.camera.now.state != "open" or size_px != self.camera.now.size_px:
            self.camera.take_size(size_px)
        if now - self._judged_at >= JUDGE_EVERY_S:
            self._judged_at = now
            self._monitor.see(pixels, now)

    def _wants(self, pixels: Any, now: float) -> bool:
        """Whether the picture is worth computing."""
        if self.pace.needs_motion and self._detector.see(pixels):
            self.pace.see_motion(now)
        return self.pace.wants(now)
