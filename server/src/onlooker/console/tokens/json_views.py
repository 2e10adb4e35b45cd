"""JSON views for programs: no cookies, problems as errors, open to pages of any origin."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from onlooker.console.web.request_log import DATABASE_UNAVAILABLE, RETRY_AFTER_S
from onlooker.errors import Code, Problem
from onlooker.http.answers import dependency_unavailable

View = Callable[[HttpRequest], HttpResponse]


def json_view(*methods: str) -> Callable[[View], View]:
    """A view for these methods that may raise Problem. It uses no cookies, so it needs no CSRF check."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def answer(request: HttpRequest) -> HttpResponse:
            try:
                if request.method not in methods:
                    raise _method_not_allowed(methods)
                return view(request)
            except Problem as problem:
                return problem_response(problem)
            except DATABASE_UNAVAILABLE:
                return problem_response(dependency_unavailable(retry_after_s=RETRY_AFTER_S))

        return answer

    return decorate


def json_response(members: dict[str, Any], **headers: str) -> HttpResponse:
    """Keyword arguments are headers, with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(msgspec.json.encode(members), content_type="application/json", headers=named)


def problem_response(problem: Problem) -> HttpResponse:
    return HttpResponse(
        problem.body(),
        status=problem.status,
        content_type="application/problem+json",
        headers={"Cache-Control": "no-store"} | problem.headers,
    )


def _method_not_allowed(methods: tuple[str, ...]) -> Problem:
    allowed = ", ".join(methods)
    return Problem(Code.METHOD_NOT_ALLOWED, f"Use {allowed}.", headers={"Allow": allowed})


TOKEN_PATHS = ("/api-token-authstream/", "/api-token-authstream")
PREFLIGHT_MAX_AGE_S = 600


def allow_all_origins(app: ASGIApp) -> ASGIApp:
    """ASGI middleware around the whole app, so that pages of any origin can read every response."""
    return CORSMiddleware(
        app,
        allow_origins=["*"],
        allow_methods=["POST"],
        allow_headers=["*"],
        allow_private_network=True,
        expose_headers=["Retry-After", "X-Request-Id"],
        max_age=PREFLIGHT_MAX_AGE_S,
    )
