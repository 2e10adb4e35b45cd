"""What the chart of a page shows: found from the address, among the streams that the account may see, and read."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from onlooker.console.accounts.page_access import PersonRequest
from onlooker.console.breakdowns.headlines import FilteredCells, read_filtered
from onlooker.console.breakdowns.selection import PARAMETERS, Selection
from onlooker.console.dashboard.period import Period, PeriodError
from onlooker.console.dashboard.report import Point, Report, read_points, read_report, without_interest
from onlooker.console.notes.marks import with_notes
from onlooker.console.streams.access import visible_streams
from onlooker.console.time_chart.choice import parse_choice
from onlooker.console.time_chart.control import ChartControl, make_control
from onlooker.console.time_chart.ghost import find_ghost
from onlooker.console.time_chart.series import ChartLines, ChartSource, read_lines
from onlooker.database import Pool
from onlooker.streams.models import Note, Stream

UNASKED_PARAMETERS = ("period", "from", "to", "by", *PARAMETERS)
"""Parameters of the address that the control below the chart does not ask for."""
STREAMS_AT_MOST = 200
"""Offered to be shown beside this one; the address takes any."""


async def read_all(
    pool: Pool, source: ChartSource, selection: Selection
) -> tuple[Report, ChartLines, FilteredCells | None]:
    """What the whole page shows."""
    stream, in_hours = source.stream, source.choice.in_hours
    return await asyncio.gather(
        read_report(pool, stream.pk, source.period, now=source.now, grid=stream.grid, in_hours=in_hours),
        read_lines(pool, source),
        read_filtered(pool, source, selection),
    )


async def read_chart(pool: Pool, source: ChartSource) -> tuple[tuple[Point, ...], ChartLines]:
    """What the time chart alone shows."""
    stream, choice = source.stream, source.choice
    reading = read_points(pool, stream.pk, source.period, now=source.now, grid=stream.grid, in_hours=choice.in_hours)
    return await asyncio.gather(reading, read_lines(pool, source))


def finish_points(points: tuple[Point, ...], source: ChartSource, notes: Sequence[Note]) -> tuple[Point, ...]:
    """With what is not in the numbers."""
    if not source.stream.reads_faces:
        points = without_interest(points)
    return with_notes(points, notes, source.period)


def find_source(request: PersonRequest, stream: Stream, period: Period, *, now: datetime) -> ChartSource:
    """What the chart is asked to show. Raises PeriodError."""
    choice = parse_choice(request.GET.dict(), period)
    other = (
        _other_streams(request, stream).filter(client_id=choice.beside_stream).first() if choice.beside_stream else None
    )
    if choice.beside_stream and other is None:
        raise PeriodError(_("Choose another stream of the same organisation, one that you may see."))
    return ChartSource(stream, period, choice, find_ghost(choice, period, now=now), other, now)


def offer_control(request: PersonRequest, source: ChartSource) -> ChartControl:
    others = _other_streams(request, source.stream).order_by("name", "pk").values_list("client_id", "name")
    ghost, zone = source.ghost, source.period.zone
    return make_control(
        source.choice,
        source.period,
        streams=_with_chosen(list(others[:STREAMS_AT_MOST]), source.other),
        has_hours=source.stream.opening_hours.exclude(hours="").exists(),
        shown_date=ghost.from_at.astimezone(zone).date().isoformat() if ghost else "",
        hidden=[(name, value) for name, value in request.GET.dict().items() if name in UNASKED_PARAMETERS],
    )


def _with_chosen(offered: list[tuple[UUID, str]], other: Stream | None) -> list[tuple[UUID, str]]:
    if other is None or any(client_id == other.client_id for client_id, _ in offered):
        return offered
    return [*offered, (other.client_id, other.name)]


def _other_streams(request: PersonRequest, stream: Stream) -> QuerySet[Stream]:
    own = visible_streams(request.user).filter(organisation=stream.organisation_id or 0)
    return own.exclude(pk=stream.pk)
