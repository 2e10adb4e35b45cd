"""A source that goes on whether or not anybody reads: a thread grabs every picture and unpacks the one that is due.

Without the thread, pictures would pile up in the driver or on the way while nobody reads, and the next would be old.
"""

from __future__ import annotations

import threading
import time

from onlooker_client.errors import SourceError
from onlooker_client.sources.source import Feed, Interval, Picture, is_due

FIRST_PICTURE_S = 12.0
"""A network camera may send its next whole picture only after many seconds."""
NEXT_PICTURE_S = 5.0
CLOSING_S = 1.0


class LiveSource:
    """Hands over one picture at a time; `Feed` says where they come from."""

    is_live = True

    def __init__(self, name: str, feed: Feed, *, fps: float = 10.0, gives_up: bool = True) -> None:
        """One that does not give up waits forever for its next picture: a pipe can't be opened again."""
        self.name = name
        self._gives_up = gives_up
        self._feed = feed
        self._interval = Interval(1 / fps)
        self._changed = threading.Condition()
        self._due_s: float | None = None
        self._picture: Picture | None = None
        self._failure: str | None = None
        """Its words, not the error: that would hold on to pictures, through all the calls it went through."""
        self._is_open = self._has_ended = self._is_closing = False
        self._has_grabbed = False
        self._closing_s: float | None = None
        self._thread = threading.Thread(target=self._run, name=f"source {name}", daemon=True)
        self._thread.start()

    def wait_until_open(self) -> None:
        """Raises SourceError where it can't be opened."""
        with self._changed:
            settled = self._changed.wait_for(lambda: self._is_open or self._is_over, timeout=FIRST_PICTURE_S)
            if self._failure is not None:
                raise SourceError(self._failure)
        if not settled:
            self.close()
            raise SourceError(f"{self.name} did not open within {FIRST_PICTURE_S:g} s.")

    def read(self, due_s: float) -> Picture | None:
        with self._changed:
            self._picture, self._due_s = None, due_s
            asked_s = time.monotonic()
            while self._picture is None and not self._is_over:
                self._wait(max(asked_s, due_s))
            picture, self._picture = self._picture, None
            if picture is None and self._failure is not None and not self._is_closing:
                raise SourceError(self._failure)
            return picture

    def close(self) -> None:
        with self._changed:
            self._is_closing = True
            self._closing_s = self._closing_s or time.monotonic()
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(CLOSING_S)  # one that is stuck in a driver ends by itself, later

    @property
    def stuck_s(self) -> float:
        """For how long a driver has held the thread, though the source was closed; 0 where it does not."""
        return time.monotonic() - self._closing_s if self._closing_s and self._thread.is_alive() else 0.0

    @property
    def _is_over(self) -> bool:
        return self._is_closing or self._has_ended or self._failure is not None

    def _wait(self, since_s: float) -> None:
        limit_s = FIRST_PICTURE_S if not self._has_grabbed else NEXT_PICTURE_S
        patience_s = since_s + limit_s - time.monotonic()
        if patience_s <= 0 and self._gives_up:
            raise SourceError(f"{self.name} gave no picture for {limit_s:g} s.")
        self._changed.wait(patience_s if patience_s > 0 else limit_s)

    def _run(self) -> None:
        try:
            self._feed.open()
            with self._changed:
                self._is_open = True
                self._changed.notify_all()
            while not self._is_closing and self._feed.grab():
                self._hand_over()
        except SourceError as error:
            self._failure = str(error)
        except Exception as error:  # noqa: BLE001 - the edge of a thread: a fault in a driver must not be lost
            self._failure = f"{self.name} failed: {type(error).__name__}."
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()
        self._feed.release()  # last: a server that does not answer can hold this up

    def _hand_over(self) -> None:
        """Unpack what was grabbed, where it is due."""
        self._has_grabbed = True
        grabbed_s = time.monotonic()
        interval_s = self._interval.add(grabbed_s)
        due_s = self._due_s
        if due_s is None or not is_due(grabbed_s, due_s, interval_s):
            return
        taken_at = time.time()
        pixels = self._feed.retrieve()
        if pixels is None:
            return
        with self._changed:
            self._due_s = None
            self._picture = Picture(pixels, taken_at)
            self._changed.notify_all()
