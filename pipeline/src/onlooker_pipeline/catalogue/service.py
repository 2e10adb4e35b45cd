"""What describes a service: its name, its request fields and its result."""

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo


class FieldKind(enum.StrEnum):
    """What a request field holds."""

    TEXT = "text"
    BOOLEAN = "boolean"
    POSITIVE = "positive number"
    FRACTION = "number from 0 to 1"
    TIMESTAMP = "ISO 8601 time"
    MEDIA = "attachment or blob"
    FRACTIONS = "object of numbers from 0 to 1"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_fraction(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_timestamp(value: Any) -> bool:
    return isinstance(value, str) and parse_timestamp(value) is not None


_CHECKS: dict[FieldKind, Callable[[Any], bool]] = {
    FieldKind.TEXT: lambda value: isinstance(value, str),
    FieldKind.BOOLEAN: lambda value: isinstance(value, bool),
    FieldKind.POSITIVE: lambda value: _is_number(value) and 0 < value < 1e9,
    FieldKind.FRACTION: _is_fraction,
    FieldKind.TIMESTAMP: _is_timestamp,
    FieldKind.MEDIA: lambda value: isinstance(value, str),
    FieldKind.FRACTIONS: lambda value: isinstance(value, dict) and all(map(_is_fraction, value.values())),
}


def parse_timestamp(text: str, *, time_zone: str = "UTC") -> datetime | None:
    """The moment that an ISO 8601 text names, or None; without an offset it is local time in the zone.

    An hour that occurs twice means the first. One that is skipped is read as if the clock had not changed.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is not None:
        return moment
    return None if _is_date(text) else moment.replace(tzinfo=ZoneInfo(time_zone))


def _is_date(text: str) -> bool:
    """Whether a text names a whole day, which Python reads as its midnight."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Field:
    """One field of a request."""

    name: str
    kind: FieldKind
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()
    """Allowed values; for an object, allowed names of its members."""

    def complaint(self, value: Any) -> str | None:
        """The error sentence for a value, or None."""
        if not _CHECKS[self.kind](value):
            article = "an" if self.kind[0] in "aeioAEIO" else "a"
            return f"`{self.name}` must be {article} {self.kind}."
        if self.choices and isinstance(value, dict):
            unknown = [name for name in value if name not in self.choices]
            return f"`{self.name}` knows no {unknown[0]!r}, only {', '.join(self.choices)}." if unknown else None
        if self.choices and value not in self.choices:
            return f"`{self.name}` must be one of {', '.join(self.choices)}."
        return None


@dataclass(frozen=True)
class Service:
    """One version of a service, as the directory describes it."""

    name: str
    version: int
    description: str
    fields: tuple[Field, ...]
    result: dict[str, str]
    """Name and meaning of each member of a result."""
    implementation: str
    """Module with a `compute` function, imported by workers only."""
    makes_visits: bool = False
    """Whether frames sent with `store` become visits, so that coverage is recorded."""
    models: tuple[str, ...] = ()
    """The models it needs; a worker loads them before it is ready."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.name) or self.version < 1:
            raise ValueError(f"bad name or version of a service: {self.name!r} {self.version}")

    @property
    def media_fields(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.kind is FieldKind.MEDIA)

    @property
    def takes_media(self) -> bool:
        """Whether its jobs process pictures or sound, and so count towards a stream's monthly quota."""
        return bool(self.media_fields)
