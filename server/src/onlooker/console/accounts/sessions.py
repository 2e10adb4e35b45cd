"""How long a person stays signed in: until idle for a day (staff: 12 hours), a week at most, under ever new keys."""

import time
from collections.abc import Callable
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse

IDLE_LIMIT_S = 24 * 3600
"""A dashboard is looked at every morning, and its page must outlast the night between."""
STAFF_IDLE_LIMIT_S = 12 * 3600
LIFETIME_LIMIT_S = 7 * 86_400
NOTED_EVERY_S = 300
RENEWED = ("connection", "report", "streams", "summary")
"""Elements that ask for themselves, by the ids that HTMX sends along."""

_STARTED, _SEEN = "signed_in_at", "seen_at"


def bound_sessions(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Django middleware; who was signed in for too long is a stranger to the page."""

    def answer(request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            _bound_session(request)
        return get_response(request)

    return answer


def _bound_session(request: HttpRequest) -> None:
    now = int(time.time())
    started, seen = (int(request.session.get(key, 0)) for key in (_STARTED, _SEEN))
    idle_limit_s = STAFF_IDLE_LIMIT_S if request.user.is_staff else IDLE_LIMIT_S
    if now - started > LIFETIME_LIMIT_S or now - seen > idle_limit_s:
        logout(request)
        messages.info(request, "You were signed out because some time has passed. Please sign in again.")
    elif now - seen >= NOTED_EVERY_S and not _is_poll(request):
        request.session[_SEEN] = now
        UserSession.objects.create_from_request(request)


def _is_poll(request: HttpRequest) -> bool:
    """A page that renews itself does not mean that somebody is there; a click does, where HTMX says on what."""
    if request.method != "GET" or "HX-Request" not in request.headers:
        return False
    return request.headers.get("HX-Trigger") in (None, *RENEWED)


def note_start(sender: Any, *, request: HttpRequest, **kwargs: Any) -> None:
    """When somebody signs in."""
    request.session[_STARTED] = request.session[_SEEN] = int(time.time())


def renew_key(sender: Any, *, request: HttpRequest, **kwargs: Any) -> None:
    """When somebody has shown again who they are, what was the key before opens nothing any more."""
    if kwargs.get("reauthenticated"):
        before = request.session.session_key
        request.session.cycle_key()
        UserSession.objects.filter(session_key=before).update(session_key=request.session.session_key)
