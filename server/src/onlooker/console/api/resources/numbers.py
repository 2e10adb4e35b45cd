"""Numbers of many streams in one request: from the daily roll-up, together or of each, with coverage."""

from datetime import date, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from msgspec import Meta

from onlooker.console.api.caller import ApiCaller, require_all
from onlooker.console.api.fields import UNSET, Number, Output, UnsetType
from onlooker.console.api.operation import ApiCall, Nothing
from onlooker.console.api.pages import PageQuery, read_rows
from onlooker.console.api.resources.streams import select_streams
from onlooker.console.dashboard.group_page import as_json_day, as_json_numbers
from onlooker.console.numbers import read_numbers
from onlooker.errors import bad_request
from onlooker.metrics.fleet import LONGEST_DAYS, FleetPeriod, read_group, read_streams
from onlooker.streams.models import Stream

USUAL_DAYS = 30
STREAMS_NAMED = 200
"""An address has room for so many."""


class NumbersQuery(PageQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which streams, which days, and how they are added up."""

    streams: Annotated[
        str, Meta(max_length=STREAMS_NAMED * 40, description="client_ids with commas between them; empty: all")
    ] = ""
    site: Number | UnsetType = UNSET
    tag: Annotated[str, Meta(max_length=50, description="Its name")] = ""
    from_date: date | UnsetType = UNSET
    to_date: (
        Annotated[date, Meta(description="The last day, included; days are those of each stream's clock")] | UnsetType
    ) = UNSET
    by: Annotated[Literal["total", "stream"], Meta(description="One sum, or each stream by itself")] = "total"


class NumbersCoverageBody(Output, frozen=True):
    """How much of the time that the streams were open was watched."""

    watched_s: float
    open_s: float
    blind_s: float
    share: float | None


class ComparisonBody(Output, frozen=True):
    """Against the same weekdays before, over days that were watched alike."""

    reason: Annotated[str | None, Meta(description="Why nothing is compared; null: it is")]
    compared_s: float
    changes: dict[str, Any]


class GroupNumbersBody(Output, frozen=True):
    """Numbers of several streams together."""

    metrics: dict[str, Any]
    coverage: NumbersCoverageBody
    comparison: ComparisonBody


class StreamNumbersBody(GroupNumbersBody, frozen=True):
    """Numbers of one stream."""

    client_id: str
    name: str


class DayBody(Output, frozen=True):
    """A local day."""

    day: str
    passing_by: int
    interested: int
    streams: Annotated[int, Meta(description="How many watched")]
    watched_s: float


class NumbersBody(Output, frozen=True):
    """The numbers."""

    from_date: str
    to_date: str
    streams: Annotated[int, Meta(description="How many")]
    total: Annotated[GroupNumbersBody | None, Meta(description="With by=total")] = None
    by_day: list[DayBody] = []
    items: Annotated[list[StreamNumbersBody], Meta(description="With by=stream, some at a time")] = []
    next: str | None = None


def read_many_numbers(call: ApiCall[Nothing, NumbersQuery]) -> NumbersBody:
    asked = call.query
    rows = _select(call.caller, asked)
    period, first, last = _find_period(asked)
    said: dict[str, Any] = {"from_date": first.isoformat(), "to_date": last.isoformat()}
    if asked.by == "stream":
        found, following = read_rows(rows, asked, list_name="numbers")
        each = read_numbers(call.request, lambda pool: read_streams(pool, [one.pk for one in found], period))
        items = [_write_stream(stream, as_json_numbers(each[stream.pk])) for stream in found]
        return NumbersBody(**said, streams=rows.count(), items=items, next=following)
    numbers = list(rows.values_list("pk", flat=True))
    total = read_numbers(call.request, lambda pool: read_group(pool, numbers, period))
    return NumbersBody(
        **said,
        streams=len(numbers),
        total=GroupNumbersBody(**_as_parts(as_json_numbers(total))),
        by_day=[DayBody(**as_json_day(day)) for day in total.days],
    )


def _select(caller: ApiCaller, asked: NumbersQuery) -> QuerySet[Stream]:
    rows = select_streams(caller, site=asked.site, tag=asked.tag)
    if not asked.streams:
        return rows
    wanted = _parse_ids(asked.streams)
    rows = rows.filter(client_id__in=wanted)
    require_all("stream", wanted, list(rows.values_list("client_id", flat=True)))
    return rows


def _parse_ids(text: str) -> set[UUID]:
    try:
        found = {UUID(part.strip()) for part in text.split(",") if part.strip()}
    except ValueError:
        raise bad_request("streams: client_ids with commas between them.") from None
    if not found or len(found) > STREAMS_NAMED:
        raise bad_request(f"streams: name 1 to {STREAMS_NAMED}. For more, use site, tag, or by=stream over all.")
    return found


def _find_period(asked: NumbersQuery) -> tuple[FleetPeriod, date, date]:
    """Without any day, the last one is each stream's own today."""
    now = timezone.now()
    is_open = isinstance(asked.to_date, UnsetType) and isinstance(asked.from_date, UnsetType)
    last = now.date() if isinstance(asked.to_date, UnsetType) else asked.to_date
    first = _days_before(last, USUAL_DAYS) if isinstance(asked.from_date, UnsetType) else asked.from_date
    days = (last - first).days + 1
    if not 1 <= days <= LONGEST_DAYS:
        raise bad_request(f"From from_date to to_date is 1 to {LONGEST_DAYS} days.")
    if not first.year >= 1970 or last > now.date() + timedelta(days=LONGEST_DAYS):
        raise bad_request("These days are too far away. Choose days of which there may be numbers.")
    return FleetPeriod(days, now, None if is_open else last), first, last


def _days_before(last: date, days: int) -> date:
    return last - timedelta(days=min(days - 1, last.toordinal() - 1))


def _as_parts(said: dict[str, Any]) -> dict[str, Any]:
    return {
        "metrics": said["metrics"],
        "coverage": NumbersCoverageBody(**said["coverage"]),
        "comparison": ComparisonBody(**said["comparison"]),
    }


def _write_stream(stream: Stream, said: dict[str, Any]) -> StreamNumbersBody:
    return StreamNumbersBody(client_id=str(stream.client_id), name=stream.name, **_as_parts(said))
