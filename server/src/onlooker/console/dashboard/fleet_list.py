"""The list of an account's streams: which of them, in which order, from which one on. Read in one statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import version
from typing import Any
from urllib.parse import urlencode

from django.db import connection, transaction
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from onlooker.console.languages.locale_text import write_percent
from onlooker.console.streams.status import LIVE_S
from onlooker.database import load_sql_parts
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.slots import SLOT_IN_SQL
from onlooker.streams.business_hours import is_open, parse_hours, zone_of
from onlooker.streams.condition import FRESH_S
from onlooker.streams.video_time import month_of

PAGE_SIZE = 50
DAYS = 7
LONGEST_WORDS = 100
LARGEST_ID = 2**63 - 1
PROBLEM, NAME = "problem", "name"
COLUMNS = {
    NAME: _lazy("Name"),
    "site": _lazy("Site"),
    "state": _lazy("State"),
    "watched": _lazy("Watched"),
    "passing_by": _lazy("Passing by"),
    "interested": _lazy("Interested"),
    "conversion": _lazy("Conversion"),
    "used": _lazy("Used this month"),
}
"""What streams can be sorted by, besides their problems, in the order of the table."""
_FROM_A = (NAME, "site", "state", PROBLEM)
"""Sorted from the smallest; others from the largest."""
_IF_WATCHED = "CASE WHEN watched_ms > 0 OR passing_by > 0 THEN {} END"
_ORDERS = {
    PROBLEM: "problem",
    NAME: "small_name",
    "site": "small_site",
    "state": "state",
    "watched": "watched_ms",
    "passing_by": _IF_WATCHED.format("passing_by"),
    "interested": _IF_WATCHED.format("interested"),
    "conversion": "interested::float8 / nullif(passing_by, 0)",
    "used": "used_s",
}
STATES = {
    "offline": pgettext_lazy("stream", "Silent"),
    "blind": pgettext_lazy("stream", "Sees nothing"),
    "quota": pgettext_lazy("stream", "Monthly limit reached"),
    "old_agent": pgettext_lazy("stream", "Old agent"),
    "live": pgettext_lazy("stream", "Live"),
    "closed": pgettext_lazy("stream", "Closed"),
    "never": pgettext_lazy("stream", "Never seen"),
    "disabled": pgettext_lazy("stream", "Disabled"),
}
"""Problems first."""
PROBLEMS = ("offline", "blind", "quota", "old_agent")

_parts = load_sql_parts("onlooker.console.dashboard", "fleet_list.sql")
FLEET_QUERIES = {name: _parts[name].substitute(SLOT_IN_SQL) for name in ("look_up_only", "list_opening_hours")}


@dataclass(frozen=True)
class Order:
    """The column that streams are sorted by: words from A, numbers from the largest, or reversed."""

    column: str = PROBLEM
    is_reversed: bool = False

    @property
    def value(self) -> str:
        """As the address has it."""
        return f"{'-' if self.is_reversed else ''}{self.column}"

    @property
    def is_ascending(self) -> bool:
        return self.is_reversed != (self.column in _FROM_A)

    @property
    def in_sql(self) -> str:
        """Streams without a number come last either way."""
        return f"{_ORDERS[self.column]} {'ASC' if self.is_ascending else 'DESC'} NULLS LAST"


@dataclass(frozen=True)
class FleetFilter:
    """What is asked of the list, as the address has it."""

    words: str = ""
    site_id: int | None = None
    """0: those without a site."""
    tag_id: int | None = None
    state: str = ""
    order: Order = Order()
    after: int | None = None
    before: int | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves any out."""
        return bool(self.words or self.state) or self.site_id is not None or self.tag_id is not None

    def address(self, **changes: Any) -> str:
        """The query of the same list, changed: a list that is changed begins with its first page."""
        other = replace(self, **({"after": None, "before": None} | changes))
        said = {
            "q": other.words,
            "site": "" if other.site_id is None else str(other.site_id),
            "tag": "" if other.tag_id is None else str(other.tag_id),
            "state": other.state,
            "sort": "" if other.order == Order() else other.order.value,
            "after": other.after or "",
            "before": other.before or "",
        }
        return urlencode({name: value for name, value in said.items() if value})


@dataclass(frozen=True)
class ListedStream:
    """How a stream stands in the list."""

    id: int
    place: int
    state: str
    problem: str
    """One of PROBLEMS, or none."""
    fault: str
    """What its camera or its agent says, where it sees nothing."""
    agent_version: str


@dataclass(frozen=True)
class FleetSummary:
    """All streams of the account in numbers, whatever is asked of the list."""

    streams: int
    states: Mapping[str, int]
    passing_by: int
    interested: int
    watched_s: float

    @property
    def conversion(self) -> str:
        """Empty for fewer than 10 people."""
        is_told = self.passing_by >= FEWEST_PEOPLE
        return write_percent(self.interested / self.passing_by, 1) if is_told else ""


@dataclass(frozen=True)
class FleetList:
    """A page of the list."""

    asked: FleetFilter
    rows: tuple[ListedStream, ...]
    found: int
    summary: FleetSummary

    @property
    def first_place(self) -> int:
        return self.rows[0].place if self.rows else 0

    @property
    def last_place(self) -> int:
        return self.rows[-1].place if self.rows else 0

    @property
    def next_page(self) -> str:
        return self.asked.address(after=self.rows[-1].id) if self.last_place < self.found else ""

    @property
    def previous_page(self) -> str:
        return self.asked.address(before=self.rows[0].id) if self.first_place > 1 else ""


def parse_filter(parameters: Mapping[str, str]) -> FleetFilter:
    """What does not exist is left out."""
    state = parameters.get("state", "")
    return FleetFilter(
        words=" ".join(parameters.get("q", "").replace("\0", "").split())[:LONGEST_WORDS],
        site_id=_parse_id(parameters.get("site", "")),
        tag_id=_parse_id(parameters.get("tag", "")),
        state=state if state in STATES else "",
        order=parse_order(parameters.get("sort", "")),
        after=_parse_id(parameters.get("after", "")),
        before=_parse_id(parameters.get("before", "")),
    )


def parse_order(text: str) -> Order:
    """Problems first where there is no such column."""
    column = text.removeprefix("-")
    return Order(column, is_reversed=text.startswith("-")) if column in _ORDERS else Order()


def _parse_id(text: str) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) < 20
    return int(text) if is_number and int(text) <= LARGEST_ID else None


def read_fleet_list(
    stream_ids: Sequence[int],
    asked: FleetFilter,
    *,
    quota_s: float,
    now: datetime,
    limit: int = PAGE_SIZE,
    days: int = DAYS,
) -> FleetList:
    """`stream_ids`: those that the account may see. Numbers are of their last days, today included."""
    values: dict[str, Any] = {
        "stream_ids": list(stream_ids),
        "now": now,
        "month": month_of(now.timestamp()),
        "days": days,
        "quota_s": quota_s,
        "live_s": LIVE_S,
        "fresh_s": FRESH_S,
        "version": release_numbers(version("onlooker")),
        "words": asked.words.lower() or None,
        "site_id": asked.site_id,
        "tag_id": asked.tag_id,
        "state": asked.state or None,
        "after": asked.after,
        "before": asked.before,
        "limit": limit,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(FLEET_QUERIES["look_up_only"])
        cursor.execute(FLEET_QUERIES["list_opening_hours"], values)
        closed = [(hours, zone) for hours, zone in cursor.fetchall() if not _is_open(hours, zone, now)]
        values["closed_hours"] = [hours for hours, _ in closed]
        values["closed_zones"] = [zone for _, zone in closed]
        cursor.execute(compile_list(asked.order), values)
        names = [column.name for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    listed = tuple(_as_listed(row) for row in rows if row["id"] is not None)
    return FleetList(asked, listed, rows[0]["found"], _as_summary(rows[0]))


def compile_list(order: Order) -> str:
    """The statement for a list in this order."""
    return _parts["list_fleet"].substitute(SLOT_IN_SQL, order=order.in_sql)


def release_numbers(text: str) -> list[int]:
    """Of `0.2.0rc1`: 0, 2, 0."""
    numbers = []
    for part in text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        numbers.append(int(digits or 0))
    return numbers


def _is_open(text: str, zone: str, now: datetime) -> bool:
    hours = parse_hours(text)
    return hours is None or is_open(hours, zone_of(zone), now)


def _as_listed(row: Mapping[str, Any]) -> ListedStream:
    problem = row["state"] if row["state"] in PROBLEMS else "old_agent" if row["has_old_agent"] else ""
    return ListedStream(
        row["id"], row["place"], row["state"], problem, row["fault"], row["version"] if row["has_old_agent"] else ""
    )


def _as_summary(row: Mapping[str, Any]) -> FleetSummary:
    return FleetSummary(
        row["streams"],
        {name: row[name] for name in STATES},
        row["all_passing_by"],
        row["all_interested"],
        row["all_watched_ms"] / 1000,
    )
