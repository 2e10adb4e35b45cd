"""Reports the camera's condition to the server, beside the frames and while there are none."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Callable

from onlooker_client.agent.frame_counts import Counts
from onlooker_client.agent.status.state import CameraStatus, StatusTracker
from onlooker_client.errors import BadRequest, OnlookerError
from onlooker_client.version import VERSION
from onlooker_client.wire.attachments import json_body
from onlooker_client.wire.transport import Repeat, Transport

PATH = "/stream/condition"
AGAIN_S = 60.0
"""How often it is reported though nothing changed."""
PAUSE_S = 30.0
"""Between two reports, whatever changed: the server accepts no more."""
LIMIT_S = 10.0
SEEING, CAMERA_LOST, SOURCE_SILENT = "seeing", "camera_lost", "source_silent"
UNKNOWN_THERE = (404, 405)
"""How an older server answers."""


@dataclass
class ReportCounts:
    """What became of the reports of a run."""

    delivered: int = 0
    failed: int = 0
    is_unknown: bool = False
    """The server is older than this report, and is sent no more of them in this run."""


class ConditionReporter:
    """To be called every second or so, by one thread; requests have threads of their own, one at a time."""

    def __init__(
        self, transport: Transport, tracker: StatusTracker, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.counts = ReportCounts()
        self._transport = transport
        self._tracker = tracker
        self._clock = clock
        self._state, self._since = "", float("-inf")
        self._is_asking = False
        self._ended_at = float("-inf")
        """When the last request ended, however it did."""
        self._delivered_state = ""
        self._delivered_at = tracker.began_at
        self._delivered_counts = tracker.tally.read()

    def use(self, transport: Transport) -> None:
        """Another server, or other credentials."""
        self._transport = transport
        self.counts.is_unknown = False

    def tick(self, now: float) -> None:
        """Start a report, where one is due."""
        camera = self._tracker.camera.now
        if camera.state == "opening":
            return
        state, since = read_state(camera)
        if state != self._state:
            self._state, self._since = state, since
        if self._is_asking or self.counts.is_unknown or now - self._ended_at < self._pause_s:
            return
        counts = self._tracker.tally.read()
        self._is_asking = True
        threading.Thread(target=self._report, args=(counts, now), name="condition", daemon=True).start()

    @property
    def _pause_s(self) -> float:
        return AGAIN_S if self._state == self._delivered_state else PAUSE_S

    def _report(self, counts: Counts, now: float) -> None:
        state = self._state
        dropped = count_drops(self._delivered_counts, counts)
        said: dict[str, Any] = {
            # Durations, not moments: clocks differ.
            "state": state,
            "since_s": round(max(now - self._since, 0.0), 1),
            "over_s": round(max(now - self._delivered_at, 0.0), 1),
            "sent": counts.answered - self._delivered_counts.answered,
            "dropped": dropped,
            "version": VERSION,
        }
        try:
            self._transport.request("PUT", PATH, json_body(said), repeat=Repeat.NEVER, timeout_s=LIMIT_S)
        except OnlookerError as error:
            self.counts.failed += 1
            self.counts.is_unknown = isinstance(error, BadRequest) and error.status in UNKNOWN_THERE
            self._delivered_state = ""
        else:
            self.counts.delivered += 1
            self._delivered_state, self._delivered_at, self._delivered_counts = state, now, counts
        finally:
            self._ended_at = self._clock()
            self._is_asking = False


def read_state(camera: CameraStatus) -> tuple[str, float]:
    """In the server's words, and since when. Whether a picture shows anything, the server judges by itself."""
    if camera.state != "open":
        return CAMERA_LOST, camera.since
    if camera.condition == "no_frame":
        return SOURCE_SILENT, camera.condition_since
    return SEEING, max(camera.since, camera.condition_since)


def count_drops(before: Counts, after: Counts) -> dict[str, int]:
    """By reason, between two readings."""
    dropped = {reason: count - before.dropped.get(reason, 0) for reason, count in after.dropped.items()}
    return {reason: count for reason, count in dropped.items() if count}
