"""A stream's own page, and the part of it that refreshes itself."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.streams.access import rights_context, visible_stream
from onlooker.console.streams.condition import read_condition
from onlooker.console.streams.connection import connection_context
from onlooker.console.streams.status import count_refusals, read_status, sum_blindness


@signed_in("GET", "HEAD")
def show_stream(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """Everything for those who manage it; for others, what a viewer may know."""
    stream = visible_stream(request.user, client_id)
    context = rights_context(request.user, stream) | {
        "stream": stream,
        "status": read_status(stream),
        "condition": read_condition(stream),
    }
    if request.htmx:
        return render(request, "streams/summary.html", context)
    if context["is_own"]:
        context |= connection_context(stream) | {
            "refusals": count_refusals(stream),
            "blind_times": sum_blindness(stream),
        }
    return render(request, "streams/stream.html", context)
