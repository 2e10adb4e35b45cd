"""Where sightings go: a later stage makes visits of them, without this one knowing how."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from onlooker.compute.sightings import Seen


class Sink(Protocol):
    """Makes messages of sightings; pure, so that a call can be computed again."""

    def fold(
        self, remembered: bytes | None, seen: Sequence[Seen], *, stream_id: int, session: str
    ) -> tuple[bytes | None, list[bytes]]:
        """What to remember of the session, and the messages that must be kept before the call is answered."""

    def close(self, remembered: bytes | None) -> list[bytes]:
        """The last messages of a session that is over."""


@dataclass(frozen=True)
class Outlet:
    """A sink, and the way its messages take."""

    sink: Sink
    publish: Callable[[str, bytes], Awaitable[object]]
    """To a subject; returns once the message is kept, raises BusError where that is not certain."""
