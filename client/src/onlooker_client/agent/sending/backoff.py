"""How long to wait after a refusal, and what to tell people about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.errors import BadCredentials, NotAllowed, NotNow, Refused

BUSY_S = 1.0
LONGEST_S = 60.0
TOO_LARGE = 413
STREAM_CLOSED = "stream_closed"
SWITCHED_OFF = "The stream is switched off. Its owner can switch it on in the console."
ASKS_AGAIN = "The agent retries automatically."
_FIRST_S = {
    Drop.SERVER_BUSY: BUSY_S,
    Drop.REFUSED: 1.0,
    Drop.BAD_CREDENTIALS: 2.0,
    Drop.QUOTA_EXCEEDED: 30.0,
    Drop.STREAM_DISABLED: 30.0,
    Drop.CLOSED: 30.0,
}


@dataclass
class Backoff:
    """Closed from a refusal until its time is over; then one frame at a time tries. Pure except for `spread`."""

    spread: Callable[[], float] = lambda: 1.0
    reason: Drop | None = None
    """Of the last refusal; None since a frame was taken."""
    refusals: int = 0
    """In a row."""
    until: float = float("-inf")

    def refusal(self, now: float, *, in_flight: int) -> Drop | None:
        """Why no frame may be sent now; None where one may."""
        if self.reason is None:
            return None
        return self.reason if now < self.until or in_flight else None

    def close(self, now: float, error: Refused) -> Drop:
        """The server refused a frame."""
        reason = reason_of(error)
        self.refusals = self.refusals + 1 if reason is self.reason else 1
        self.reason = reason
        pause_s = min(_FIRST_S[reason] * 2.0 ** min(self.refusals - 1, 10), LONGEST_S)
        if reason is Drop.SERVER_BUSY:
            pause_s = min(error.retry_after_s or BUSY_S, LONGEST_S)
        self.until = now + pause_s * self.spread()
        return reason

    def open(self) -> None:
        """A frame was taken, or something changed that makes asking worth it."""
        self.reason = None
        self.refusals = 0
        self.until = float("-inf")


def reason_of(error: Refused) -> Drop:
    if isinstance(error, BadCredentials):
        return Drop.BAD_CREDENTIALS
    if isinstance(error, NotAllowed):
        known = {
            "quota_exceeded": Drop.QUOTA_EXCEEDED,
            "stream_disabled": Drop.STREAM_DISABLED,
            STREAM_CLOSED: Drop.CLOSED,
        }
        return known.get(error.code, Drop.REFUSED)
    return Drop.SERVER_BUSY if isinstance(error, NotNow) else Drop.REFUSED


def used_up(resets_at: str | None) -> str:
    until = f" It resumes at {resets_at}, or when the stream becomes an enterprise stream." if resets_at else ""
    return f"The stream has used up its month of computed video.{until}"


def explain_refusal(error: Refused) -> str:
    """What happened and what to do, for a log."""
    if isinstance(error, BadCredentials):
        return "The server does not recognise this Login and Password. Check both, or run: onlooker-agent setup"
    if error.code == "quota_exceeded":
        return used_up(error.problem.get("resets_at"))
    if error.code == "stream_disabled":
        return SWITCHED_OFF
    if error.code == STREAM_CLOSED:
        return f"The stream is closed until {error.problem.get('opens_at') or 'its opening hours are changed'}."
    if isinstance(error, NotNow):
        return f"The server is busy, or not ready to compute ({error.status} {error.code})."
    smaller = f"{error.detail} Send smaller pictures: --width, --height, --quality."
    return smaller if error.status == TOO_LARGE else str(error)
