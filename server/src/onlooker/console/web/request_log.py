"""Around every page: an id, a count, and a log line that names the route, never the address: links may be secrets."""

import logging
import sys
import time
from collections.abc import Callable
from typing import Any

from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from onlooker import database
from onlooker.console.web import counters
from onlooker.http.access_log import AccessLog, choose_request_id
from onlooker.logs import fields

log = logging.getLogger(__name__)

DATABASE_UNAVAILABLE = (OperationalError, InterfaceError, *database.DATABASE_UNAVAILABLE)
"""Pages meet Django's names for it as well as psycopg's."""
RETRY_AFTER_S = 5

_access_log = AccessLog(log, counters.requests, counters.request_time)
_UNAVAILABLE = "a part is unavailable"


class RequestLog:
    """Django middleware, the outermost one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        logging.getLogger("django").setLevel(logging.WARNING)  # at debug it logs what templates are given
        for name in ("django.request", "django.security", "django.security.csrf"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # they would log the address
        got_request_exception.connect(_log_failure)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.META["request_id"] = choose_request_id(request.headers.get("X-Request-Id", ""))
        started = time.perf_counter()
        response = self._get_response(request)
        if _UNAVAILABLE in request.META:
            response = _unavailable_page()
        response["X-Request-Id"] = request.META["request_id"]
        _access_log.record(
            _route(request),
            response.status_code,
            time.perf_counter() - started,
            routine=response.status_code < 400,
            request_id=request.META["request_id"],
            method=request.method,
        )
        return response


def _unavailable_page() -> HttpResponse:
    response = HttpResponse(render_to_string("503.html"), status=503)  # without the request, whose account is unknown
    response["Retry-After"] = str(RETRY_AFTER_S)
    return response


def _route(request: HttpRequest) -> str:
    return request.resolver_match.view_name or "unnamed" if request.resolver_match else "none"


def _log_failure(*, request: HttpRequest, **_: Any) -> None:
    """A database that can't be reached is not the page's fault, and will be back."""
    error, line = sys.exc_info()[1], fields(request_id=request.META.get("request_id"), route=_route(request))
    if isinstance(error, DATABASE_UNAVAILABLE):
        request.META[_UNAVAILABLE] = True
        log.warning(_UNAVAILABLE, extra=line)
    else:
        log.exception("request failed", extra=line)
