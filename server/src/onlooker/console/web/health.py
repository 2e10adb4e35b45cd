"""Health of the console, for a proxy in front: under any host name, and over plain HTTP."""

from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from onlooker.clock_check import ClockCheck


@csrf_exempt
@require_safe
def show_live(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"live": True})


@csrf_exempt
@require_safe
def show_ready(request: HttpRequest) -> JsonResponse:
    checks, facts = {"database": is_database_there()}, {}
    scope = getattr(request, "scope", {})
    if "app" in scope:  # not in a test
        clock: ClockCheck = scope["app"].state.clock
        checks["clock"], facts = clock.is_right, clock.facts()
    ready = all(checks.values())
    return JsonResponse({"ready": ready, "checks": checks} | facts, status=200 if ready else 503)


def is_database_there() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        return False
    finally:
        if not connection.in_atomic_block:
            connection.close()  # the next check gets a new one
    return True


VIEWS = {"/livez": show_live, "/readyz": show_ready}


def answer_proxies(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Django middleware, before those that look at the host's name."""

    def answer(request: HttpRequest) -> HttpResponse:
        view = VIEWS.get(request.path)
        return view(request) if view else get_response(request)

    return answer
