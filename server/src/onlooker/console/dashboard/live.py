"""Server-sent events for a dashboard: who is in view now, and when newer numbers are to be fetched."""

from functools import partial
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse

from onlooker.console.dashboard.viewing import Viewing, find_stand, look
from onlooker.console.event_streams import GOES_ON, GoesOn
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.signed_in import PersonRequest, signed_in


@signed_in("GET", "HEAD")
def show_live(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """The first events. What follows on them is sent when Django has let go of the request."""
    stand = find_stand(request, client_id)
    view = read_numbers(request, partial(look, stand=stand))
    viewing = Viewing(request.session, client_id, settings.ONLOOKER.console_refresh_s)
    scope = getattr(request, "scope", {})
    if request.method == "GET" and "app" in scope:
        events = partial(viewing.follow, scope["app"].state.pool, stand=stand, shown=view)
        scope[GOES_ON] = GoesOn(request.user.pk, events)
    answer = HttpResponse(viewing.begin(view), content_type="text/event-stream")
    answer["Cache-Control"] = "no-store, no-transform"
    answer["X-Accel-Buffering"] = "no"  # or nginx would keep events until they fill a page
    return answer
