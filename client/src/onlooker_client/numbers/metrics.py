"""Numbers of a stream over a range, as plain objects or as a table of pandas or Polars."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any, Callable, Union
from urllib.parse import urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from onlooker_client.errors import BadArgument, BadRequest, ConfigError, LinkError
from onlooker_client.numbers.bucket import Bucket, parse_moment
from onlooker_client.numbers.declared import CARRIED

Moment = Union[datetime, date, str]
"""A date alone, and a text without an offset, are read in the stream's time zone; a datetime must have its own."""
TIMES = ("by_quarter_hour", "by_hour", "by_day", "by_week", "by_month", "global")
BUCKETS_AT_MOST = 200_000
PARQUET_MAGIC = b"PAR1"
"""What a whole file begins and ends with."""
Filter = Union[str, Mapping[str, Union[str, Sequence[str]]]]
"""Which visits count: {"gender": "female", "age": ["25-34", "35-44"]}, or the same as a text."""
Ask = Callable[[str], dict[str, Any]]
"""Asks the data endpoint for a page, by the query of its URL."""
Download = Callable[[str], bytes]
"""Asks it for a file of the whole range."""


@dataclass(frozen=True)
class Query:
    """What is asked of the data endpoint."""

    metrics: tuple[str, ...]
    from_date: str
    to_date: str | None
    time: str
    tz: str | None
    carried: tuple[str, ...] = ()
    """Metrics that are asked for besides; servers from before them answer without."""
    by: tuple[str, ...] = ()
    filter: str = ""
    """As the data endpoint takes it: gender:female,age:25-34."""

    @staticmethod
    def of(
        metrics: Sequence[str],
        from_date: Moment,
        to_date: Moment | None,
        *,
        time: str,
        tz: str | None,
        by: Sequence[str] = (),
        filter: Filter | None = None,
    ) -> Query:
        """What was watched, and why not the rest, is always asked for, too."""
        names = _names(metrics)
        if not names:
            raise BadArgument("Name at least one metric, such as passing_by.")
        if time not in TIMES:
            raise BadArgument(f"time must be one of {', '.join(TIMES)}.")
        carried = tuple(name for name in CARRIED if name not in names)
        begin, end = _moment_text(from_date), _moment_text(to_date) if to_date else None
        return Query(names, begin, end, time, tz, carried, _names(by), _filter_text(filter or ""))

    @property
    def is_broken_down(self) -> bool:
        return bool(self.by or self.filter)

    @property
    def text(self) -> str:
        """As part of a URL."""
        said = {"metrics": ",".join((*self.metrics, *self.carried)), "from_date": self.from_date, "time": self.time}
        if self.to_date:
            said["to_date"] = self.to_date
        others = {"tz": self.tz, "by": ",".join(self.by), "filter": self.filter}
        return urlencode(said | {name: text for name, text in others.items() if text})


class Metrics:
    """Buckets, oldest first; pages are fetched while one goes through them, and kept."""

    def __init__(self, ask: Ask, query: Query, *, download: Download | None = None) -> None:
        self.query = query
        self._ask = ask
        self._download = download
        self._next: str | None = query.text
        self._buckets: list[Bucket] = []
        self._said: Mapping[str, Any] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Metrics({self.query!r})"

    def __iter__(self) -> Iterator[Bucket]:
        at = 0
        while at < len(self._buckets) or self._fetch(at):
            yield self._buckets[at]
            at += 1

    def __len__(self) -> int:
        """How many buckets the range has; asks for the first page alone."""
        return int(self._first_page().get("total_results", len(self._buckets)))

    @property
    def buckets(self) -> list[Bucket]:
        """All of them."""
        return list(self)

    @property
    def from_date(self) -> datetime:
        """Where the range begins, as the server understood it; in the time zone that was asked for, if any."""
        return self._as_asked(parse_moment(self._first_page()["from_date"]))

    @property
    def to_date(self) -> datetime:
        """Where it ends."""
        return self._as_asked(parse_moment(self._first_page()["to_date"]))

    @property
    def is_exact(self) -> bool:
        """False where the range cuts visits that were deleted after their time."""
        self._fetch_all()
        return self._said.get("exact", True) is not False

    def rows(self) -> list[dict[str, Any]]:
        """Flat, as a table has them: `start`, and a column for each figure, such as `gender_female`.

        Of a breakdown, a row for each cell of each bucket, with a column for each dimension.
        """
        return [row for bucket in self for row in bucket.rows()]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; pandas must be installed."""
        return _to_pandas(self)

    def to_polars(self) -> Any:
        """A polars.DataFrame; polars must be installed."""
        return _to_polars(self)

    def save_parquet(self, path: str | os.PathLike[str]) -> None:
        """Save them as a file of Apache Parquet, which the server writes; nothing need be installed.

        The file is there as a whole or not at all.
        """
        if self._download is None:
            raise ConfigError("These numbers are of no server. Get them with client.metrics([...]).")
        if self.query.is_broken_down:
            self._first_page()  # of a server that knows breakdowns
        content = self._download(replace(self.query, carried=()).text)
        if content[:4] != PARQUET_MAGIC or content[-4:] != PARQUET_MAGIC:
            raise LinkError("The answer is no Parquet. Is this the address of an Onlooker data endpoint?")
        beside = Path(f"{os.fspath(path)}.part")
        try:
            beside.write_bytes(content)
            beside.replace(path)
        except OSError as error:
            raise ConfigError(f"{os.fspath(path)} can't be written: {error.strerror or error}.") from None

    def _as_asked(self, moment: datetime) -> datetime:
        """By the clock of `tz`; as the server wrote it where there is none, or where this machine knows no zones."""
        try:
            return moment.astimezone(ZoneInfo(self.query.tz)) if self.query.tz else moment
        except ZoneInfoNotFoundError:
            return moment

    def _first_page(self) -> Mapping[str, Any]:
        if not self._said:
            self._fetch(0)
        return self._said

    def _fetch_all(self) -> None:
        while self._fetch(len(self._buckets)):
            pass

    def _fetch(self, at: int) -> bool:
        """Whether there is a bucket at this place, after fetching what it needs."""
        with self._lock:
            while at >= len(self._buckets) and self._next:
                self._take(self._ask_page(self._next))
            return at < len(self._buckets)

    def _ask_page(self, query: str) -> dict[str, Any]:
        """A server from before the carried metrics refuses them by name; then it is asked without."""
        try:
            return self._ask(query)
        except BadRequest as refused:
            if self._buckets or not any(repr(name) in refused.detail for name in self.query.carried):
                raise
            self.query = replace(self.query, carried=())
            return self._ask(self.query.text)

    def _take(self, page: dict[str, Any]) -> None:
        entities, following = page.get("entities"), page.get("next_page") or ""
        if not isinstance(entities, dict) or not isinstance(following, str):
            raise LinkError("The answer has no numbers. Is this the address of an Onlooker data endpoint?")
        if (following and not entities) or len(self._buckets) + len(entities) > BUCKETS_AT_MOST:
            raise LinkError("The answer has no end. Ask for a shorter range.")
        if (self.query.by and "by" not in page) or (self.query.filter and "filter" not in page):
            raise ConfigError("This server is from before breakdowns and filters: its numbers are of all people.")
        starts = {"global": page.get("from_date")}
        self._buckets += [
            Bucket(self._as_asked(parse_moment(starts.get(key) or key)), values) for key, values in entities.items()
        ]
        inexact = self._said.get("exact") is False or page.get("exact") is False
        self._said = {**page, "entities": None, "exact": not inexact}
        self._next = following.partition("?")[2] or None


def _names(names: Sequence[str]) -> tuple[str, ...]:
    """Given one by one, or as a text."""
    return tuple(names.split(",")) if isinstance(names, str) and names else tuple(names)


def _filter_text(given: Filter) -> str:
    if isinstance(given, str):
        return given
    pairs = ((name, [parts] if isinstance(parts, str) else parts) for name, parts in given.items())
    return ",".join(f"{name}:{part}" for name, parts in pairs for part in parts)


def _moment_text(moment: Moment) -> str:
    if isinstance(moment, datetime) and moment.tzinfo is None:
        raise BadArgument(
            "from_date and to_date need a time zone. Use datetime.now(timezone.utc), or moment.astimezone() for local "
            "time."
        )
    return moment if isinstance(moment, str) else moment.isoformat()


def _to_pandas(metrics: Metrics) -> Any:
    """`start` is the index, in the time zone that was asked for, else in UTC: offsets of a summer differ."""
    pandas = _load("pandas")
    rows = metrics.rows()
    table = pandas.DataFrame(rows, columns=list(rows[0]) if rows else ["start"])
    start = pandas.to_datetime(table["start"], utc=True)
    table["start"] = start.dt.tz_convert(metrics.query.tz) if metrics.query.tz else start
    return table.set_index("start")


def _to_polars(metrics: Metrics) -> Any:
    """`start` is a column, in the time zone that was asked for, else in UTC."""
    polars = _load("polars")
    rows = [{**row, "start": row["start"].astimezone(timezone.utc)} for row in metrics.rows()]
    schema = {"start": polars.Datetime("us", "UTC")}
    table = polars.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)
    column = polars.col("start")
    return table.with_columns(column.dt.convert_time_zone(metrics.query.tz)) if metrics.query.tz and rows else table


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ConfigError(f"{name} is not installed. Run: pip install {name}") from None
