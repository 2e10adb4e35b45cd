"""The list of streams: one's own, and those that others share."""

from dataclasses import dataclass

from django.core.paginator import Paginator
from django.db.models import BooleanField, Case, Q, QuerySet, Value, When
from django.db.models.functions import Lower
from django.http import HttpResponse
from django.shortcuts import render

from onlooker.console.accounts.models import Account
from onlooker.console.streams.access import visible_streams
from onlooker.console.streams.signed_in import PersonRequest, signed_in
from onlooker.console.streams.standing import Standing, read_standings
from onlooker.streams.models import Stream

PAGE_SIZE = 50


@dataclass(frozen=True)
class Line:
    """A stream as the list shows it."""

    stream: Stream
    standing: Standing
    is_own: bool


@signed_in("GET", "HEAD")
def show_streams(request: PersonRequest) -> HttpResponse:
    """The whole page, or only the list where the page refreshes itself."""
    page = Paginator(_ordered_streams(request.user), PAGE_SIZE).get_page(request.GET.get("page"))
    streams = list(page.object_list)
    standings = read_standings(streams)
    lines = [Line(one, standings[one.id], is_own=one.owner_id == request.user.pk) for one in streams]
    groups = [
        ("My streams", [line for line in lines if line.is_own]),
        ("Shared with me", [line for line in lines if not line.is_own]),
    ]
    template = "streams/list_part.html" if request.htmx else "streams/list.html"
    return render(request, template, {"page": page, "groups": [group for group in groups if group[1]]})


def _ordered_streams(account: Account) -> QuerySet[Stream]:
    """Own ones first, then by name."""
    is_shared = Case(When(~Q(owner=account), then=Value(True)), default=Value(False), output_field=BooleanField())
    return visible_streams(account).select_related("owner").order_by(is_shared, Lower("name"), "id")
