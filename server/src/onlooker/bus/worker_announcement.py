"""What a worker says of itself on the bus, beside its services."""

import re
import socket
from importlib.metadata import version

import msgspec

from onlooker.settings import Settings


class Announcement(msgspec.Struct, frozen=True):
    """What a worker announces; one that leaves something out is from another release."""

    worker: str = ""
    version: str = ""
    confined: str = "no"
    clock: str = ""
    """The time of the worker's machine when it answered, in seconds."""

    @property
    def clock_s(self) -> float | None:
        """None of a release that does not report it."""
        try:
            return float(self.clock)
        except ValueError:
            return None

    @property
    def is_confined(self) -> bool:
        return self.confined == "yes"


def name_of(settings: Settings) -> str:
    """A worker's name: of the settings, or the host's."""
    return settings.worker_name or re.sub("[^a-z0-9-]+", "-", socket.gethostname().lower())


def announcement(name: str, *, is_confined: bool) -> dict[str, str]:
    """As the NATS services API takes it: texts only."""
    said = Announcement(name, version("onlooker"), "yes" if is_confined else "no")
    return msgspec.structs.asdict(said)
