"""One bucket of numbers: an hour, a day, or a whole range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from onlooker_client.errors import BadArgument, LinkError
from onlooker_client.moments import read_moment
from onlooker_client.numbers.declared import CARRIED, DECLARED_METRICS, Quality

CELLS = "cells"
"""The member of a bucket that is no metric."""


@dataclass(frozen=True)
class Bucket:
    """`bucket.passing_by`, or `bucket["passing_by"]`; what was not asked for is refused."""

    start: datetime
    """With the offset of the time zone; of `time="global"`, where the range begins."""
    values: Mapping[str, Any]
    """As the server said them."""
    by: Mapping[str, str] = field(default_factory=dict)
    """Of a cell of a breakdown: its part of each dimension."""

    def __getitem__(self, metric: str) -> Any:
        """A number, None where there is nobody to count, or counts by name."""
        said = self._said(metric)
        return said["value"] if set(said) == {"value"} else dict(said)

    def __getattr__(self, name: str) -> Any:
        """Any other declared metric."""
        if name in DECLARED_METRICS:
            return self[name]
        raise AttributeError(f"Bucket has no {name!r}. It has: {', '.join(DECLARED_METRICS)}.")

    @property
    def cells(self) -> list[Bucket]:
        """The bucket by the dimensions that were asked for, such as gender and age."""
        return [
            Bucket(self.start, {name: said for name, said in cell.items() if name != "by"}, cell["by"])
            for cell in self.values.get(CELLS, ())
        ]

    @property
    def metrics(self) -> Mapping[str, Any]:
        """What the server said of each metric, without cells."""
        return {name: said for name, said in self.values.items() if name != CELLS}

    @property
    def passing_by(self) -> int:
        return int(self._value("passing_by") or 0)

    @property
    def interested(self) -> int:
        return int(self._value("interested") or 0)

    @property
    def stop_time(self) -> float | None:
        """Seconds; None where nobody was interested."""
        return self._value("stop_time")

    @property
    def attention_time(self) -> float | None:
        """Seconds; None where nobody was interested."""
        return self._value("attention_time")

    @property
    def satisfaction(self) -> float | None:
        return self._value("satisfaction")

    @property
    def category(self) -> dict[str, int]:
        return self._counts("category")

    @property
    def gender(self) -> dict[str, int]:
        return self._counts("gender")

    @property
    def age(self) -> dict[str, int]:
        return self._counts("age")

    @property
    def emotion(self) -> dict[str, int]:
        return self._counts("emotion")

    @property
    def watched_s(self) -> float:
        """Seconds that were watched."""
        return float(self._said("watched")["value"])

    @property
    def watched_share(self) -> float | None:
        """The share of the time that has passed; None where that is not known, or where none has."""
        return None if self._said("watched")["share"] is None else float(self._said("watched")["share"])

    @property
    def gaps(self) -> dict[str, float]:
        """Seconds that nobody watched, by reason."""
        return {str(reason): float(seconds) for reason, seconds in self._said("gaps").items()}

    @property
    def quality(self) -> Quality:
        """How well people could be seen, where it was asked for."""
        said = self._said("quality")
        return Quality(**{name: said.get(name) for name in Quality._fields})

    @property
    def is_gap(self) -> bool:
        """Whether nobody watched: then a count of 0 does not mean that nobody came."""
        return set(CARRIED) <= set(self.values) and not self.watched_s and not self.gaps.get("unknown")

    def row(self) -> dict[str, Any]:
        """Flat, as a table has it."""
        flat: dict[str, Any] = {"start": self.start, **self.by}
        for metric in self.metrics:
            flat.update(self.columns(metric))
        return flat

    def rows(self) -> list[dict[str, Any]]:
        """One, or one for each cell."""
        return [one.row() for one in self.cells or [self]]

    def columns(self, metric: str) -> dict[str, Any]:
        """A metric's columns in a table."""
        said = self._said(metric)
        return {metric if part == "value" else f"{metric}_{part}": number for part, number in said.items()}

    def _value(self, metric: str) -> float | None:
        value = self[metric]
        return None if value is None else float(value)

    def _counts(self, metric: str) -> dict[str, int]:
        return {str(key): int(count) for key, count in self._said(metric).items()}

    def _said(self, metric: str) -> Mapping[str, Any]:
        try:
            said = self.values[metric]
        except KeyError:
            raise BadArgument(f"{metric} was not requested. Name it in client.metrics([...]).") from None
        return said if isinstance(said, Mapping) else {"value": said}


def parse_moment(text: str) -> datetime:
    """ISO 8601, as the server writes it."""
    try:
        return read_moment(text)
    except (ValueError, TypeError, AttributeError):
        raise LinkError(f"The answer has {text!r} for a time. Is this the address of an Onlooker server?") from None
