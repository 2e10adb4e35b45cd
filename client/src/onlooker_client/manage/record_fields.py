"""An answer's object as a frozen dataclass: fields that are not known are ignored, wrong ones are refused."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any, Callable, NamedTuple, TypeVar

from onlooker_client.errors import LinkError
from onlooker_client.moments import read_moment

R = TypeVar("R", bound="Record")
Read = Callable[[Any], Any]
_OPTIONAL, _MANY = " | None", "tuple["


class Record:
    """What the server says of one thing; its first field names it."""

    @property
    def identity(self) -> str | int:
        """As the API names it."""
        first: Any = getattr(self, fields(self)[0].name)  # type: ignore[arg-type]
        return first.identity if isinstance(first, Record) else first


class _Field(NamedTuple):
    name: str
    read: Read
    is_needed: bool


def read_record(kind: type[R], said: Any) -> R:
    """Raises LinkError where it is none. null stands for a field that is absent."""
    if not isinstance(said, Mapping):
        raise LinkError("The answer is no object. Is this the address of an Onlooker console?")
    values = {}
    for field in _fields_of(kind):  # type: ignore[arg-type]
        value = said.get(field.name)
        if value is None and not field.is_needed:
            continue
        try:
            values[field.name] = field.read(value)
        except (TypeError, ValueError, OverflowError):
            raise LinkError(
                f"The answer has {str(value)[:60]!r} for {field.name}. Is this the address of an Onlooker console?"
            ) from None
    return kind(**values)


@functools.lru_cache(maxsize=64)
def _fields_of(kind: type[R]) -> tuple[_Field, ...]:
    names = vars(sys.modules[kind.__module__])
    return tuple(
        _Field(
            field.name,
            _reader(str(field.type), names),
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(kind)  # type: ignore[arg-type]
    )


def _reader(annotation: str, names: Mapping[str, Any]) -> Read:
    """By the annotation's text: Python 3.9 can't evaluate `str | None`."""
    if annotation.endswith(_OPTIONAL):
        return _reader(annotation[: -len(_OPTIONAL)], names)
    if annotation.startswith(_MANY):
        return functools.partial(_read_many, _reader(annotation[len(_MANY) :].partition(",")[0], names))
    return _SCALARS.get(annotation) or functools.partial(read_record, names[annotation])


def _read_many(read: Read, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(read, value))


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _read_whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _read_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise TypeError
    return float(value)


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _read_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _read_time(value: Any) -> datetime:
    return read_moment(_read_text(value))


_SCALARS: dict[str, Read] = {
    "str": _read_text,
    "int": _read_whole,
    "float": _read_number,
    "bool": _read_flag,
    "datetime": _read_time,
    "Settings": _read_object,
}
