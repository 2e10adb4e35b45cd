"""Why a frame that was grabbed has no answer: a closed list."""

from __future__ import annotations

import enum


class Drop(str, enum.Enum):
    """A reason; its value is what logs and the health report say."""

    BUSY = "busy"
    """Frames under way fill what link and server take; a newer one comes soon."""
    BANDWIDTH_CAP = "bandwidth_cap"
    """More would go over the kilobytes a second that were allowed."""
    SERVER_BUSY = "server_busy"
    """The server said when to ask again, and that is not yet."""
    BAD_CREDENTIALS = "bad_credentials"
    """The server does not know Login or Password, and is asked again now and then only."""
    QUOTA_EXCEEDED = "quota_exceeded"
    """The stream's month of computed video is used up."""
    STREAM_DISABLED = "stream_disabled"
    """The stream is switched off in the console."""
    UNREACHABLE = "unreachable"
    """No connection could be made; or the link is down, and the next attempt is not due yet."""
    CONNECTION_LOST = "connection_lost"
    """It was sent, and the connection broke before its answer came."""
    TIMED_OUT = "timed_out"
    """It was sent, and no answer came in time."""
    OVERTAKEN = "overtaken"
    """A newer frame was answered first, so this one was given up."""
    REFUSED = "refused"
    """For any other reason that the server gave."""
    COMPUTATION_FAILED = "computation_failed"
    """The server took it, and could not compute it."""
    BROKEN_PICTURE = "broken_picture"
    """The camera gave something that can't be made a JPEG."""
    STOPPED = "stopped"
    """Under way when the agent was told to stop."""
