"""What a worker says of itself on the bus, beside its services."""

from importlib.metadata import version

import msgspec


class Announcement(msgspec.Struct, frozen=True):
    """What a worker announces; one that leaves something out is from another release."""

    worker: str = ""
    version: str = ""
    confined: str = "no"

    @property
    def is_confined(self) -> bool:
        return self.confined == "yes"


def announcement(name: str, *, is_confined: bool) -> dict[str, str]:
    """As the NATS services API takes it: texts only."""
    said = Announcement(name, version("onlooker"), "yes" if is_confined else "no")
    return msgspec.structs.asdict(said)
