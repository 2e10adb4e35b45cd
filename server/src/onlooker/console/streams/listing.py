"""The overview of all streams that an account sees: how each stands, its last days, and its place among them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from onlooker.console.dashboard.glance import Glance, read_glances
from onlooker.console.dashboard.sparks import Spark, draw_spark
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import visible_streams
from onlooker.console.streams.ranking import COLUMNS, Order, make_headings, parse_order, rank, sort_streams
from onlooker.console.streams.signed_in import PersonRequest, signed_in
from onlooker.console.streams.standing import Standing, read_standings
from onlooker.streams.models import Stream

PAGE_SIZE = 50
RANKED_AT_MOST = 200
"""Who sees more streams has them by name alone: a place among all needs the numbers of all."""


@dataclass(frozen=True)
class Line:
    """A stream as the overview shows it."""

    stream: Stream
    standing: Standing
    glance: Glance
    spark: Spark
    place: int | None
    is_own: bool


@signed_in("GET", "HEAD")
def show_streams(request: PersonRequest) -> HttpResponse:
    """The whole page, or only the list where the page refreshes itself."""
    order = parse_order(request.GET.get("sort", ""))
    streams = visible_streams(request.user).select_related("owner").order_by(Lower("name"), "id")
    all_streams = list(streams[: RANKED_AT_MOST + 1])
    is_ranked = len(all_streams) <= RANKED_AT_MOST
    if is_ranked:
        glances = _read_glances(request, all_streams)
        page = _turn_to(request, sort_streams(all_streams, glances, order))
    else:
        order, page = Order(), _turn_to(request, streams)
        glances = _read_glances(request, list(page.object_list))
    places = rank(glances.items(), order.metric) if is_ranked and len(all_streams) > 1 else {}
    values = {
        "page": page,
        "lines": _make_lines(request, list(page.object_list), glances, places),
        "order": order,
        "headings": make_headings(order),
        "is_sortable": is_ranked,
        "is_ranked": bool(places),
        "ranked_by": COLUMNS[order.metric],
        "refresh_s": int(settings.ONLOOKER.console_refresh_s),
    }
    return render(request, "streams/list_part.html" if request.htmx else "streams/list.html", values)


def _turn_to(request: PersonRequest, streams: Sequence[Stream] | QuerySet[Stream]) -> Page[Stream]:
    return Paginator(streams, PAGE_SIZE).get_page(request.GET.get("page"))


def _read_glances(request: PersonRequest, streams: Sequence[Stream]) -> dict[int, Glance]:
    return read_numbers(request, lambda pool: read_glances(pool, streams, now=timezone.now())) if streams else {}


def _make_lines(
    request: PersonRequest, streams: Sequence[Stream], glances: dict[int, Glance], places: dict[int, int]
) -> list[Line]:
    standings = read_standings(streams)
    return [
        Line(
            stream=stream,
            standing=standings[stream.id],
            glance=glances[stream.id],
            spark=draw_spark(glances[stream.id]),
            place=places.get(stream.id),
            is_own=stream.owner_id == request.user.pk,
        )
        for stream in streams
    ]
