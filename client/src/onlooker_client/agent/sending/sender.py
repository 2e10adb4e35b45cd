"""Sends frames at once or not at all: there is no queue that could fall behind."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

from onlooker_client.agent.delivery import DeliveryObserver
from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.sending.backoff import Backoff
from onlooker_client.agent.sending.channel import Channel, PendingFrame, Uplink
from onlooker_client.agent.sending.link import MOST, Link
from onlooker_client.errors import LinkError, NotSent, Refused, TimedOut

MOST_CHANNELS = 20
"""More than may be in flight: one that was given up while its server's name was looked up comes back later."""


class Sender:
    """Decides whether a frame may go, and sends it over the first idle channel."""

    def __init__(self, uplink: Uplink, tally: Tally, observer: DeliveryObserver) -> None:
        self._uplink = uplink
        self._tally = tally
        self._observer = observer
        self._lock = threading.Lock()
        self._idle: list[Channel] = []
        self._busy: dict[int, tuple[PendingFrame, Channel]] = {}
        self._link = Link(_spread)
        self._backoff = Backoff(_spread)
        self._channels = 0
        self._next_number = 0
        self._is_closed = False

    @property
    def in_flight(self) -> int:
        return self._link.in_flight

    @property
    def allowed(self) -> int:
        """Frames that may be in flight at once."""
        return self._link.window.allowed

    def refusal(self, now: float) -> Drop | None:
        """Why a frame of this moment can't be sent; asked before it is encoded."""
        with self._lock:
            if not self._idle and self._channels >= MOST_CHANNELS:
                return Drop.UNREACHABLE
            return self._backoff.refusal(now, in_flight=self._link.in_flight) or self._link.refusal(now)

    def send(self, now: float, timestamp: str, image: bytes, shown: Any = None) -> None:
        """On its way, unless the sender was closed meanwhile."""
        uplink = self._uplink
        body = uplink.request.body(timestamp, image)
        with self._lock:
            if self._is_closed:
                self._tally.drop(Drop.STOPPED)
                return
            self._next_number += 1
            frame = PendingFrame(self._next_number, body, uplink, now, self._link.is_silent(now), shown)
            channel = self._idle.pop() if self._idle else self._add_channel()
            self._busy[frame.number] = (frame, channel)
            self._link.send(frame.number, now)
            self._tally.send(len(body))
        channel.take(frame)

    def use(self, uplink: Uplink) -> None:
        """From now on with other credentials."""
        with self._lock:
            self._uplink = uplink
            self._backoff.open()

    def try_again(self) -> None:
        """Whatever was refused: the next frame asks."""
        with self._lock:
            self._backoff.open()

    def end_overdue(self, now: float) -> None:
        """Give up what was in flight for too long; call it every second or so."""
        with self._lock:
            for number in self._link.overdue(now):
                self._give_up(number, Drop.TIMED_OUT)

    def close(self, patience_s: float) -> None:
        """Wait for what is in flight, then end it."""
        with self._lock:
            self._is_closed = True
        give_up_at = time.monotonic() + patience_s
        while self._busy and time.monotonic() < give_up_at:
            time.sleep(0.01)
        with self._lock:
            for number in list(self._busy):
                self._give_up(number, Drop.STOPPED)
            for channel in self._idle:
                channel.close()

    def _add_channel(self) -> Channel:
        self._channels += 1
        return Channel(self._finish_frame)

    def _finish_frame(self, channel: Channel, frame: PendingFrame) -> None:
        """Called by a channel whose frame has ended, in whatever way."""
        now = time.monotonic()
        with self._lock:
            reason = frame.given_up
            if reason is None:
                del self._busy[frame.number]
                reason = self._settle(frame, now)
            self._take_back(channel)
        if reason is None:
            self._observer.answered(frame, latency_s=now - frame.taken_at)
        elif frame.given_up is None:
            self._observer.lost(frame, reason)

    def _take_back(self, channel: Channel) -> None:
        """A channel has nothing to do. Those that only a bad link needed are not kept."""
        if self._is_closed or len(self._idle) >= MOST:
            self._channels -= 1
            channel.close()
        else:
            self._idle.append(channel)

    def _settle(self, frame: PendingFrame, now: float) -> Drop | None:
        """Count a frame that ended by itself; returns why it was in vain, if it was."""
        error = frame.error
        if error is not None and not isinstance(error, Refused):
            self._link.lose(frame.number)
            reason: Drop | None = _reason(error)
        else:
            for older in self._link.answer(frame.number, now):
                self._give_up(older, Drop.OVERTAKEN)
            reason = self._read(frame, now)
        if reason is None:
            self._tally.answer()
        else:
            self._tally.lose(reason)
        return reason

    def _read(self, frame: PendingFrame, now: float) -> Drop | None:
        if isinstance(frame.error, Refused):
            return self._backoff.close(now, frame.error)
        self._backoff.open()
        return Drop.COMPUTATION_FAILED if "error" in frame.answer else None

    def _give_up(self, number: int, reason: Drop) -> None:
        """End a frame that is in flight; its channel comes back by itself."""
        frame, channel = self._busy.pop(number)
        frame.given_up = reason
        if reason is Drop.TIMED_OUT:
            self._link.lose(number)
        else:
            self._link.give_up(number)
        self._tally.lose(reason)
        channel.cancel()


def _reason(error: LinkError) -> Drop:
    if isinstance(error, NotSent):
        return Drop.UNREACHABLE
    return Drop.TIMED_OUT if isinstance(error, TimedOut) else Drop.CONNECTION_LOST


def _spread() -> float:
    return random.uniform(0.8, 1.0)  # noqa: S311 (no secret)
