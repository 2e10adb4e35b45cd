"""The public page behind a notice's QR code: what is computed now, for how long, and how many people were counted."""

from dataclasses import dataclass
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import get_language_from_request, ngettext
from django.views.decorators.http import require_safe

from onlooker.console.languages.locale_text import write_count
from onlooker.console.notices.facts import current_facts
from onlooker.console.notices.languages import named_language
from onlooker.console.notices.models import NoticeDetails
from onlooker.console.notices.notice_text import NoticeForm, write_notice
from onlooker.console.notices.sentences import say
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
    facts = current_facts(details.stream, details)
    state = _state_key(details.stream)
    count = count_today(request, details.stream, now=datetime.now(UTC))
    language = named_language(request, otherwise=get_language_from_request(request))
    with translation.override(language):
        context = {
            "is_public_page": True,
            "paper": write_notice(facts, NoticeForm.PAGE),
            "is_on": state == "state_on",
            "state": say(state),
            "count": describe_count(count),
        }
        page = render(request, "notices/public.html", context)
    for name, value in {"Content-Language": language, "X-Robots-Tag": "noindex"}.items():
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


def describe_count(count: TodayCount) -> str:
    at = f"{count.until:%H:%M}"
    if not count.people:
        return say("count_early" if count.people is None else "count_none", time=at)
    counted = ngettext(
        "One person has been counted between midnight and {time}.",
        "{count} people have been counted between midnight and {time}.",
        count.people,
    )
    return counted.format(time=at, count=write_count(count.people))
