"""How long people stay signed in: until idle for a day (staff: 12 hours), a week at most; by a provider 12 hours."""

import time
from collections.abc import Callable
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from onlooker.console.accounts.reach import REACHES_ONLY

IDLE_LIMIT_S = 24 * 3600
"""Dashboards are opened every morning, and must stay signed in overnight."""
STAFF_IDLE_LIMIT_S = 12 * 3600
LIFETIME_LIMIT_S = 7 * 86_400
PROVIDER_LIFETIME_LIMIT_S = 12 * 3600
"""Then an organisation's provider is asked again whether they still belong to it."""
ACTIVITY_INTERVAL_S = 300
POLLING_ELEMENTS = ("report", "streams", "summary", "who-loader")
"""Ids of elements that ask by themselves, as HTMX sends them."""

_STARTED, _SEEN = "signed_in_at", "seen_at"


def limit_sessions(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Django middleware that ends sessions which are idle or too old."""

    def answer(request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            _limit_session(request)
        return get_response(request)

    return answer


def _limit_session(request: HttpRequest) -> None:
    now = int(time.time())
    started, seen = (int(request.session.get(key, 0)) for key in (_STARTED, _SEEN))
    idle_limit_s = STAFF_IDLE_LIMIT_S if request.user.is_staff else IDLE_LIMIT_S
    lifetime_limit_s = PROVIDER_LIFETIME_LIMIT_S if REACHES_ONLY in request.session else LIFETIME_LIMIT_S
    if now - started > lifetime_limit_s or now - seen > idle_limit_s:
        logout(request)
        messages.info(request, _("Your session has expired. Please sign in again."))
    elif now - seen >= ACTIVITY_INTERVAL_S and not _is_poll(request):
        request.session[_SEEN] = now
        UserSession.objects.create_from_request(request)


def _is_poll(request: HttpRequest) -> bool:
    """A page that refreshes itself does not mean that someone is there; a click does."""
    if request.method != "GET" or "HX-Request" not in request.headers:
        return False
    return request.headers.get("HX-Trigger") in (None, *POLLING_ELEMENTS)


def record_sign_in(sender: Any, *, request: HttpRequest, **kwargs: Any) -> None:
    """When someone signs in."""
    request.session[_STARTED] = request.session[_SEEN] = int(time.time())


def renew_session_key(sender: Any, *, request: HttpRequest, **kwargs: Any) -> None:
    """After reauthentication, the previous session key no longer works."""
    if kwargs.get("reauthenticated"):
        before = request.session.session_key
        request.session.cycle_key()
        UserSession.objects.filter(session_key=before).update(session_key=request.session.session_key)
