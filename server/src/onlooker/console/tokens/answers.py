"""Routes for programs: JSON in, JSON or a problem out, no cookies."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import msgspec
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from onlooker.errors import Code, Problem, overloaded

View = Callable[[HttpRequest], HttpResponse]


def json_route(*methods: str) -> Callable[[View], View]:
    """A view of these methods that may raise Problem; without cookies there is nothing to forge, so no CSRF check."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def answer(request: HttpRequest) -> HttpResponse:
            try:
                if request.method not in methods:
                    raise _method_not_allowed(methods)
                return view(request)
            except Problem as problem:
                return problem_answer(problem)
            except (InterfaceError, OperationalError):
                return problem_answer(overloaded("The database is away. Try again in a moment.", retry_after_s=5))

        return answer

    return decorate


def json_answer(members: dict[str, Any], **headers: str) -> HttpResponse:
    """Keyword arguments are headers, with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(msgspec.json.encode(members), content_type="application/json", headers=named)


def problem_answer(problem: Problem) -> HttpResponse:
    return HttpResponse(
        problem.body(),
        status=problem.status,
        content_type="application/problem+json",
        headers={"Cache-Control": "no-store"} | problem.headers,
    )


def _method_not_allowed(methods: tuple[str, ...]) -> Problem:
    allowed = ", ".join(methods)
    return Problem(Code.METHOD_NOT_ALLOWED, f"Use {allowed}.", headers={"Allow": allowed})
