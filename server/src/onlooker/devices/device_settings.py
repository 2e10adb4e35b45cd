"""What a device can be set to from here, at which level, and within which limits."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from onlooker.devices.enrolment_codes import check_source
from onlooker.sentences import Sentence
from onlooker.streams.business_hours import check_hours


class Level(StrEnum):
    """Where a change of a device's settings was."""

    ENROLMENT = "enrolment"
    TEMPLATE = "template"
    SITE = "site"
    DEVICE = "device"
    STREAM = "stream"
    AGAIN = "again"
    """Nothing changed: a version that had failed is offered once more."""


LEVELS = (Level.TEMPLATE, Level.SITE, Level.DEVICE)
"""Later ones go before earlier ones."""
LONGEST_TEXT = 400
Check = Callable[[Any], Any]


class SettingError(ValueError):
    """A value that a setting can't have."""

    def __init__(self, name: str, complaint: ValueError) -> None:
        super().__init__(f"{name}: {complaint}")
        self.complaint = complaint
        """Why, without the name of the setting."""


@dataclass(frozen=True)
class Setting:
    """One setting; `check` gives its value as it is stored, or raises ValueError with a sentence."""

    name: str
    explanation: str
    check: Check
    levels: tuple[Level, ...] = LEVELS


def _decimal(least: float, most: float) -> Check:
    def check(value: Any) -> float:
        number = _number(value)
        if not least <= number <= most:
            raise ValueError(Sentence("must be {least} to {most}.", least=least, most=most))
        return round(number, 3)

    return check


def _whole(least: int, most: int) -> Check:
    def check(value: Any) -> int:
        number = _number(value)
        if number != int(number) or not least <= number <= most:
            raise ValueError(Sentence("must be a whole number, {least} to {most}.", least=least, most=most))
        return int(number)

    return check


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(Sentence("must be a number."))
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError(Sentence("must be a number.")) from None
    if not math.isfinite(number):
        raise ValueError(Sentence("must be a number."))
    return number


def _one_of(*words: str) -> Check:
    def check(value: Any) -> str:
        if value not in words:
            raise ValueError(Sentence("must be one of: {words}.", words=", ".join(words)))
        return str(value)

    return check


def _camera(value: Any) -> str:
    source = check_source(_text(value))
    if not source:
        raise ValueError(Sentence("must name a camera; take the setting away to leave the choice to the device."))
    return source


def _hours(value: Any) -> str:
    return check_hours(_text(value))


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError(Sentence("must be a text of at most {longest} characters.", longest=LONGEST_TEXT))
    return value


SETTINGS = {
    one.name: one
    for one in (
        Setting("source", "The camera: a number, a path, or an address without a password", _camera),
        Setting("fps", "Frames a second while people are there", _decimal(0.2, 30)),
        Setting("idle_fps", "Frames a second while nobody is there", _decimal(0.2, 30)),
        Setting("width", "Width of the frames, in pixels", _whole(160, 3840)),
        Setting("height", "Height of the frames, in pixels", _whole(120, 2160)),
        Setting("quality", "Quality of the JPEG", _whole(10, 95)),
        Setting("max_kbytes", "KB a second at most; 0: no limit", _whole(0, 1_000_000)),
        Setting(
            "compute",
            "Where frames are computed: server or device; otherwise as the stream says",
            _one_of("server", "device"),
            (Level.DEVICE,),
        ),
        Setting(
            "hours",
            "When the device works, within the stream's opening hours; otherwise as the stream says",
            _hours,
            (Level.DEVICE,),
        ),
        Setting("log_level", "How much the agent logs", _one_of("debug", "info", "warning")),
    )
}


def check_settings(level: Level, settings: dict[str, Any]) -> dict[str, Any]:
    """As they are stored; None takes a setting away. Raises ValueError with a sentence, for a value SettingError."""
    return {name: _check_one(level, name, value) for name, value in settings.items()}


def _check_one(level: Level, name: str, value: Any) -> Any:
    setting = SETTINGS.get(name)
    if setting is None:
        raise ValueError(f"There is no setting {name[:40]!r}. There are: {', '.join(SETTINGS)}.")
    if level not in setting.levels:
        raise ValueError(f"{name} is set on a device, or is that of its stream; a {level} does not set it.")
    if value is None:
        return None
    try:
        return setting.check(value)
    except ValueError as error:
        raise SettingError(name, error) from None


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """From NAME=VALUE as typed; without a value: taken away. Numbers stay texts, which checks read."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name.strip():
            raise ValueError(f"Write NAME=VALUE, and NAME= to take a setting away, not {pair[:60]!r}.")
        found[name.strip()] = value.strip() or None
    return found
