"""The public page behind a notice's QR code: what is computed now, for how long, and how many people were counted."""

from dataclasses import dataclass
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from onlooker.console.notices.facts import current_facts
from onlooker.console.notices.languages import LANGUAGE_NAMES, Language, choose_language, say, write_number
from onlooker.console.notices.models import NoticeDetails
from onlooker.console.notices.notice_text import NoticeForm, write_notice
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.status import is_closed_now
from onlooker.database import Pool
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query
from onlooker.slots import SLOT, slot_of
from onlooker.streams.models import Stream
from onlooker.streams.organisations import has_active_owner

COUNTED = "passing_by"


@dataclass(frozen=True)
class TodayCount:
    """How many people passed by since midnight, in whole slots: nobody can watch single people come."""

    until: datetime
    """In the stream's time zone; before the first slot is over, when that will be."""
    people: int | None
    """None before the first slot of the day is over."""


def _state_key(stream: Stream) -> str:
    """Whether anything is computed at this moment, as far as settings tell."""
    if not stream.enabled or not has_active_owner(stream):
        return "state_off"
    return "state_closed" if is_closed_now(stream) else "state_on"


@require_safe
def show_public_page(request: HttpRequest, key: str) -> HttpResponse:
    details = (
        NoticeDetails.objects.select_related("stream")
        .filter(public_key=key, is_public=True, stream__removed_at=None)
        .first()
    )
    if details is None:
        raise Http404
    language = choose_language(request.GET.get("lang", ""), request.headers.get("Accept-Language", ""))
    facts = current_facts(details.stream, details)
    state = _state_key(details.stream)
    context = {
        "language": language.value,
        "paper": write_notice(facts, language, NoticeForm.PAGE),
        "is_on": state == "state_on",
        "state": say(language, state),
        "today": say(language, "heading_today"),
        "count": describe_count(count_today(request, details.stream, now=datetime.now(UTC)), language),
        "count_note": say(language, "count_note"),
        "not_stated": say(language, "not_stated"),
        "written_by": say(language, "written_by_product"),
        "languages_label": say(language, "languages"),
        "languages": [(code.value, LANGUAGE_NAMES[code], code is language) for code in Language],
    }
    page = render(request, "notices/public.html", context)
    for name, value in {
        "Content-Language": language.value,
        "Vary": "Accept-Language",
        "X-Robots-Tag": "noindex",
    }.items():
        page[name] = value
    return page


def count_today(request: HttpRequest, stream: Stream, *, now: datetime) -> TodayCount:
    """Exact, and about nobody."""
    zone = ZoneInfo(stream.time_zone)
    midnight = datetime.combine(now.astimezone(zone).date(), time(), zone).astimezone(UTC)
    until = slot_of(now)
    if until <= midnight:
        return TodayCount((slot_of(midnight) + SLOT).astimezone(zone), None)
    query = Query(stream.pk, (COUNTED,), midnight, until, zone)
    if stream.grid:
        query = query.on_grid()

    async def read(pool: Pool) -> int:
        return int((await run_query(pool, query)).entities["global"][COUNTED]["value"] or 0)

    return TodayCount(until.astimezone(zone), read_numbers(request, read))


def describe_count(count: TodayCount, language: Language) -> str:
    at = f"{count.until:%H:%M}"
    if count.people is None:
        return say(language, "count_early", time=at)
    key = {0: "count_none", 1: "count_one"}.get(count.people, "count_many")
    return say(language, key, time=at, count=write_number(language, count.people))
