"""The settings that a console may send: a closed list, each checked before anything is done with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Callable

from onlooker_client.agent.remote.week_hours import parse_hours
from onlooker_client.device.compute_options import DEVICE, SERVER

LOG_LEVELS = ("debug", "info", "warning")
_SOURCE = re.compile(r"\d{1,2}|usb:\d{1,2}|/dev/[\w./:-]{1,150}|(?:rtsps?|https?)://[^\s@?#]{1,180}", re.ASCII)
_ZONE = re.compile(r"[A-Za-z][\w+-]{0,30}(?:/[\w+-]{1,30}){0,2}", re.ASCII)
_SHOWN = 40


class SettingsRefused(ValueError):
    """Why a document is not taken, as a sentence that names the setting."""


@dataclass(frozen=True)
class RemoteSettings:
    """What a document sets; None where it says nothing."""

    source: str | None = None
    fps: float | None = None
    idle_fps: float | None = None
    width: int | None = None
    height: int | None = None
    quality: int | None = None
    max_kbytes: float | None = None
    """A second; 0: no limit."""
    compute: str | None = None
    hours: str | None = None
    """Opening hours, as a stream's; an empty text: always open."""
    time_zone: str | None = None
    """Of the hours."""
    log_level: str | None = None

    def named(self) -> dict[str, Any]:
        """Those that are set, as a document has them."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in said.items() if value is not None}


NAMES = tuple(field.name for field in fields(RemoteSettings))


def read_settings(said: Any) -> RemoteSettings:
    """Raises SettingsRefused for the first thing that is wrong; nothing of such a document is used."""
    if not isinstance(said, Mapping):
        raise SettingsRefused("The document has no settings.")
    for name in said:
        if name not in _CHECKS:
            raise SettingsRefused(
                f"{_show(name)}: this version of the agent has no such setting. Update the agent, or take it away."
            )
    return RemoteSettings(**{name: _CHECKS[name](name, value) for name, value in said.items()})


def _number(least: float, most: float) -> Callable[[str, Any], float]:
    def check(name: str, value: Any) -> float:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not least <= value <= most:  # which no NaN is
            raise SettingsRefused(f"{name}: {_show(value)} is not a number between {least:g} and {most:g}.")
        return float(value)

    return check


def _whole(least: int, most: int) -> Callable[[str, Any], int]:
    within = _number(least, most)

    def check(name: str, value: Any) -> int:
        number = within(name, value)
        if number != int(number):
            raise SettingsRefused(f"{name}: {_show(value)} is not a whole number.")
        return int(number)

    return check


def _one_of(*words: str) -> Callable[[str, Any], str]:
    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise SettingsRefused(f"{name}: {_show(value)} is none of {', '.join(words)}.")
        return value

    return check


def _camera(name: str, value: Any) -> str:
    """It is not shown: somebody may have put a password into it all the same."""
    if not isinstance(value, str) or not _SOURCE.fullmatch(value) or ".." in value:
        raise SettingsRefused(
            f"{name}: a camera is a number such as 0, a path such as /dev/video0, or an address without a password. "
            "Set one with a password on the device: onlooker-agent setup"
        )
    return value


def _opening(name: str, value: Any) -> str:
    try:
        parse_hours(value if isinstance(value, str) else "?")
    except ValueError as error:
        raise SettingsRefused(f"{name}: {error}") from None
    return str(value)


def _zone(name: str, value: Any) -> str:
    if not isinstance(value, str) or not _ZONE.fullmatch(value):
        raise SettingsRefused(f"{name}: {_show(value)} is no name of a time zone, such as Europe/Paris.")
    return value


def _show(value: Any) -> str:
    """Short and on one line, whatever it is."""
    if isinstance(value, (dict, list)):
        return "a list or an object"
    if isinstance(value, int) and abs(value) > 10**15:
        return "that"  # Python may refuse to write such a number out
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "source": _camera,
    "fps": _number(0.2, 30),
    "idle_fps": _number(0.2, 30),
    "width": _whole(16, 7680),
    "height": _whole(16, 4320),
    "quality": _whole(10, 95),
    "max_kbytes": _number(0, 1_000_000),
    "compute": _one_of(SERVER, DEVICE),
    "hours": _opening,
    "time_zone": _zone,
    "log_level": _one_of(*LOG_LEVELS),
}
