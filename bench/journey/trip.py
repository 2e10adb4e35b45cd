"""What all steps share: the product, the person, the device, the films, and what was found."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from bench.client.haproxy import Front
from bench.console.cast import OWNER, Scene
from bench.dashboard.figures import Figure
from bench.dashboard.shown import settle
from bench.journey.clip import Clip
from bench.journey.device import Device
from bench.journey.traveller import Traveller
from onlooker.testing import Stack
from onlooker_client import Client


@dataclass
class Trip:
    """One journey."""

    scene: Scene
    front: Front
    person: Traveller
    device: Device
    filmed: Clip
    """What the camera sees."""
    recorded: Clip
    """What was filmed yesterday."""
    figures: list[Figure] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    run_line: Sequence[str] = ("onlooker-agent", "run")

    @property
    def stack(self) -> Stack:
        return self.scene.stack

    @property
    def login(self) -> str:
        return self.scene.known["login"]

    @property
    def password(self) -> str:
        return self.scene.known["first password"]

    @property
    def authority(self) -> Path:
        """As the person saved it on the device."""
        return self.device.home / "authority.pem"

    def check(self, right: bool, fault: str) -> None:
        if not right:
            self.faults.append(fault)

    def open_dashboard(self, **period: str) -> None:
        """`from_` is `from`, which Python keeps for itself."""
        query = urlencode({name.rstrip("_"): value for name, value in period.items()})
        self.person.open(f"/streams/{self.login}/dashboard/?{query}")
        settle(self.person.browser)

    @contextmanager
    def reading(self) -> Iterator[Client]:
        """The SDK, as a program of the same person uses it: it finds console and data endpoint by itself."""
        with Client(self.stack.url, self.login, self.password, ca_file=str(self.authority), username=OWNER) as client:
            yield client
