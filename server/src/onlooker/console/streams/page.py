"""A stream's own page, and the parts of it that refresh themselves."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django_htmx.http import trigger_client_event

from onlooker.console.streams.access import owned_stream, visible_stream
from onlooker.console.streams.connecting import connection_context
from onlooker.console.streams.enterprise import way_of
from onlooker.console.streams.refusals import recent_refusals
from onlooker.console.streams.signed_in import PersonRequest, signed_in
from onlooker.console.streams.standing import read_standing


@signed_in("GET", "HEAD")
def show_stream(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """All of it for the owner; what a viewer may know for a viewer."""
    stream = visible_stream(request.user, client_id)
    is_own = stream.owner_id == request.user.pk
    context = {"stream": stream, "standing": read_standing(stream), "is_own": is_own, "way": way_of(request.user)}
    if request.htmx:
        return render(request, "streams/summary.html", context)
    if is_own:
        context |= connection_context(stream) | {"refusals": recent_refusals(stream)}
    return render(request, "streams/stream.html", context)


@signed_in("GET", "HEAD")
def show_connection(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """Nothing new (204) until the first frame is there; what has changed is then read aloud once, not every time."""
    stream = owned_stream(request.user, client_id)
    standing = read_standing(stream)
    if not standing.last_frame_at:
        return HttpResponse(status=204)
    answer = render(request, "streams/connection.html", {"stream": stream, "standing": standing})
    return trigger_client_event(answer, "frame-received")
