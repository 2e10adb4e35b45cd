"""Around every page: an id, a count, and a log line that names the route, never the address: links may be secrets."""

import logging
import re
import sys
import time
from collections.abc import Callable
from secrets import token_hex
from typing import Any

from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from onlooker.console import counters
from onlooker.logs import fields

log = logging.getLogger(__name__)

_AWAY = "a part is away"
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{8,64}")


class RequestLog:
    """Django middleware, the outermost one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        logging.getLogger("django").setLevel(logging.WARNING)  # at debug it logs what templates are given
        for name in ("django.request", "django.security", "django.security.csrf"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # they would log the address
        got_request_exception.connect(_note_failure)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "")
        request.META["request_id"] = given if _REQUEST_ID.fullmatch(given) else token_hex(16)
        started = time.perf_counter()
        response = self._get_response(request)
        if _AWAY in request.META:
            response = _say_away()
        response["X-Request-Id"] = request.META["request_id"]
        seconds = time.perf_counter() - started
        counters.requests(_route(request), response.status_code).inc()
        counters.request_time(_route(request)).observe(seconds)
        level = logging.DEBUG if response.status_code < 400 else logging.INFO
        line = fields(
            request_id=request.META["request_id"],
            method=request.method,
            route=_route(request),
            status=response.status_code,
            ms=round(seconds * 1000, 1),
        )
        log.log(level, "request", extra=line)
        return response


def _say_away() -> HttpResponse:
    response = HttpResponse(render_to_string("503.html"), status=503)  # without the request: no look at who it is
    response["Retry-After"] = "5"
    return response


def _route(request: HttpRequest) -> str:
    return request.resolver_match.view_name or "unnamed" if request.resolver_match else "none"


def _note_failure(*, request: HttpRequest, **_: Any) -> None:
    """A database that is away is no fault of the page, and will be back."""
    error, line = sys.exc_info()[1], fields(request_id=request.META.get("request_id"), route=_route(request))
    if isinstance(error, OperationalError | InterfaceError):
        request.META[_AWAY] = True
        log.warning("a part is away", extra=line)
    else:
        log.exception("request failed", extra=line)
