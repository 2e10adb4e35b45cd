"""The one page that shows a Password."""

from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import render

from onlooker.console.streams.connecting import connection_context
from onlooker.console.streams.signed_in import PersonRequest
from onlooker.console.streams.standing import read_standing
from onlooker.streams.models import Stream


def show_password(
    request: PersonRequest,
    stream: Stream,
    access_token: str,
    *,
    needs_card: bool = False,
    old_ends_at: datetime | None = None,
) -> HttpResponse:
    """The answer to the POST that made it; a reload leads to the stream's page, and no cache keeps it."""
    context = connection_context(stream, access_token) | {
        "access_token": access_token,
        "old_ends_at": old_ends_at,
        "needs_card": needs_card,
        "standing": read_standing(stream),
    }
    answer = render(request, "streams/password.html", context)
    answer["Cache-Control"] = "no-store"
    return answer
