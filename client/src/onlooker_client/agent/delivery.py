"""Where frames go: to the server, or to the computing process of this device. The agent treats both alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Protocol

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.client import Client
from onlooker_client.errors import LinkError, Refused
from onlooker_client.sources.source import Picture


@dataclass(frozen=True)
class PreparedFrame:
    """A picture as it is delivered."""

    scaled: Any
    """Its pixels: grey and small."""
    image: bytes = b""
    """The same as JPEG, where it is sent."""


class DeliveredFrame(Protocol):
    """A frame whose end is known: computed, or lost."""

    taken_at: float
    """Seconds of the monotonic clock."""
    answer: dict[str, Any]
    error: LinkError | Refused | None
    shown: Any
    """Its pixels, where somebody wants to see them."""


class DeliveryObserver(Protocol):
    """Hears how each frame ended, from the threads that delivered them; must be quick."""

    def answered(self, frame: DeliveredFrame, *, latency_s: float) -> None: ...

    def lost(self, frame: DeliveredFrame, reason: Drop) -> None: ...


class Delivery(Protocol):
    """Takes frames from the thread that grabs, and is otherwise called by the main thread."""

    stale: str
    """Why the agent must start again, as a sentence; empty while it must not."""

    def start(self, is_over: Callable[[], bool]) -> None:
        """Before the first frame, or until `is_over`; raises ConfigError where it can't."""

    def refusal(self, now: float) -> Drop | None:
        """Why a frame of this moment can't be delivered; asked before it is prepared."""

    def prepare(self, pixels: Any) -> PreparedFrame:
        """Raises SourceError or OpenCV's error for what is no picture."""

    def take(self, picture: Picture, frame: PreparedFrame, now: float) -> None:
        """Deliver it, and count it."""

    def tick(self, now: float) -> None:
        """Every second or so."""

    def use(self, client: Client) -> None:
        """From now on with other credentials."""

    def limit_bandwidth(self, max_kbytes: float) -> None:
        """From now on at most so many kilobytes a second; 0: no limit."""

    def try_again(self) -> None:
        """Do not wait any longer after a refusal."""

    def unix_s(self) -> float | None:
        """The time by this machine; None where it does not know it."""

    def health(self) -> dict[str, Any]:
        """For the health report, beside what all deliveries have in common."""

    def close(self, *, source_ended: bool) -> None:
        """Finish what is in progress, within seconds."""

    def abandon(self) -> None:
        """The same at once: the process is about to be replaced."""
