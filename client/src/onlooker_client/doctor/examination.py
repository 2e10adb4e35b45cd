"""What the checks share: what is set, and what earlier checks found out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

from onlooker_client.config import Config
from onlooker_client.doctor.light import Light
from onlooker_client.doctor.looking import Look, Looker
from onlooker_client.errors import ConfigError, SourceError
from onlooker_client.sources.source import Source
from onlooker_client.wire.transport import Transport, basic_authorization


@dataclass(frozen=True)
class View:
    """What was seen through the camera."""

    looker: Looker
    look: Look
    light: Light


@dataclass
class Examination:
    """One run of doctor; each check fills in what later ones need."""

    config: Config
    clock: Callable[[], float]
    """Unix time of this machine."""
    fps: float = 10.0
    """Frames a second that the agent will send."""
    source: Source | None = None
    view: View | None = None
    jpegs: list[tuple[float, bytes]] = field(default_factory=list)
    """Some pictures of the camera as they are sent, with their Unix times."""
    transport: Transport | None = None
    stream: dict[str, Any] = field(default_factory=dict)
    """What the server says of the stream; empty where it is too old to say."""

    def seen(self) -> View:
        """For checks that come after the camera's."""
        if self.view is None:
            raise SourceError("The camera gave no picture.")
        return self.view

    def connect(self) -> Transport:
        """To the server, with Login and Password where they are set."""
        if self.transport is None:
            config = self.config
            if not config.url:
                raise ConfigError("The server's address is not set.")
            authorization = ""
            if config.client_id and config.access_token:
                authorization = basic_authorization(config.client_id, config.access_token)
            self.transport = Transport(config.url, authorization=authorization, ca_file=config.ca_file)
        return self.transport

    @property
    def jpeg_bytes(self) -> float:
        """Mean size of a picture; 0 where there is none."""
        return sum(len(jpeg) for _, jpeg in self.jpegs) / len(self.jpegs) if self.jpegs else 0.0

    def close(self) -> None:
        if self.source is not None:
            self.source.close()
        if self.transport is not None:
            self.transport.close()
