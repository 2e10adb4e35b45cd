"""Whether this device can do what a document asks for: its camera is opened once, its computing process started."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Protocol

from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.remote.settings import SettingsRefused
from onlooker_client.device.computation import Computation, require_packages
from onlooker_client.errors import ConfigError, SourceError
from onlooker_client.sources.kinds import SourceKind, camera_device, describe, recognise
from onlooker_client.sources.source import Source

if TYPE_CHECKING:
    from onlooker_client.sources.reconnection import SourceEvent

OPEN_LIMIT_S = 20.0


class CameraSource(Source, Protocol):
    """A source as the agent has it: it comes back by itself."""

    @property
    def stuck_s(self) -> float: ...


OpenSource = Callable[..., CameraSource]
"""Of its text, its options, and `on_change`, as ReconnectingSource."""


def check_fitness(now: AgentOptions, wanted: AgentOptions, open_source: OpenSource) -> None:
    """Takes seconds. Raises SettingsRefused, with the reason; what is as now is not tried."""
    if wanted.computes_here and not now.computes_here:
        _check_computing(wanted)
    if not is_same_camera(now.source, wanted.source):
        _check_camera(wanted, open_source)


def is_same_camera(one: str, other: str) -> bool:
    """One that is open can't be opened a second time."""
    if one.strip() == other.strip():
        return True
    is_local = recognise(one) is SourceKind.CAMERA and recognise(other) is SourceKind.CAMERA
    return is_local and camera_device(one) == camera_device(other)


def _check_computing(wanted: AgentOptions) -> None:
    trial = Computation(wanted.compute, on_frame=lambda _: None)
    try:
        require_packages()
        trial.start()
    except (ConfigError, OSError, ImportError) as error:
        raise SettingsRefused(f"compute: {error}") from None
    trial.close()


def _check_camera(wanted: AgentOptions, open_source: OpenSource) -> None:
    from onlooker_client.sources.opener import SourceOptions  # OpenCV is behind these
    from onlooker_client.sources.reconnection import SourceState

    name = describe(wanted.source)
    reasons: list[str] = []
    opened: list[Any] = []

    def hear(event: SourceEvent) -> None:
        if event.state is not SourceState.OPENED:
            reasons.append(event.reason)
            for source in opened:
                source.close()  # it would try again and again

    wish = SourceOptions(wanted.width_px, wanted.height_px, wanted.fps, wanted.is_looped)
    try:
        source = open_source(wanted.source, wish, on_change=hear)
        opened.append(source)
        limit = threading.Timer(OPEN_LIMIT_S, source.close)
        limit.daemon = True
        limit.start()
        try:
            picture = source.read(time.monotonic())
        finally:
            limit.cancel()
            source.close()
    except SourceError as error:
        raise SettingsRefused(f"source: {error}") from None
    if picture is None:
        why = reasons[0] if reasons else f"{name} gave no picture within {OPEN_LIMIT_S:g} seconds."
        raise SettingsRefused(f"source: {why}")
