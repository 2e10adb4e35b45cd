"""What is known of the camera: whether it is open, since when, and how its picture is."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace

from onlooker_client.agent.telling import words
from onlooker_client.agent.telling.journal import Journal
from onlooker_client.sources.lasting import Event, State

TELL_EVERY_S = 60.0


@dataclass(frozen=True)
class Camera:
    """At one moment."""

    state: str = "opening"
    """opening, open, lost or waiting."""
    detail: str = ""
    since: float = float("-inf")
    condition: str = "fine"
    """fine, frozen, black or no_frame."""
    size_px: tuple[int, int] | None = None


class CameraWatch:
    """Hears of the camera from the thread that grabs and from the one that watches, and tells the log."""

    def __init__(self, journal: Journal) -> None:
        self.now = Camera()
        self.name = ""
        self._journal = journal
        self._lock = threading.Lock()
        self._told_at = float("-inf")
        """When the log last heard of a loss."""
        self._untold = 0

    def change(self, event: Event) -> None:
        """The source says so. That it is open counts with its first picture."""
        with self._lock:
            before, at = self.now, time.monotonic()
            if event.state is State.LOST:
                self.now = Camera("lost", event.reason, at)
                self._tell_loss(event.reason, at)
            elif event.state is State.WAITING:
                state, since = ("lost", before.since) if before.state == "lost" else ("waiting", at)
                self.now = Camera(state, event.reason, since)
                say = self._journal.debug if self._untold else self._journal.warning
                say("camera_waiting", f"{event.reason} The agent waits for it.")

    def take_size(self, size_px: tuple[int, int]) -> None:
        """A picture came; its size was another, or it is the first since the camera was opened."""
        with self._lock:
            before, at = self.now, time.monotonic()
            if before.state == "open":
                self.now = replace(before, size_px=size_px)
                return
            self.now = Camera("open", "", at, "fine", size_px)
        away = f", back after {words.duration(at - before.since)}" if before.state == "lost" else ""
        say = self._journal.debug if self._untold else self._journal.info
        say("camera_opened", f"Camera opened: {self.name}, {size_px[0]}x{size_px[1]}{away}")

    def _tell_loss(self, reason: str, at: float) -> None:
        """A camera that comes and goes does not fill the log."""
        if at - self._told_at < TELL_EVERY_S:
            self._untold += 1
            self._journal.debug("camera_lost", f"Camera lost: {reason}")
            return
        before = f" It was lost {self._untold} more times since this was said last." if self._untold else ""
        self._journal.warning("camera_lost", f"Camera lost: {reason} It is opened again when it is back.{before}")
        self._told_at, self._untold = at, 0

    def judge(self, condition: str) -> None:
        """How the picture is now; one that is not open has none."""
        with self._lock:
            if self.now.state == "open" and self.now.condition != condition:
                self.now = replace(self.now, condition=condition)
