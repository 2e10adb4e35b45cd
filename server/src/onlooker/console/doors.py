"""Who is let in: who comes over HTTPS, by the console's own name, and with text that a database can hold."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest

Handler = Callable[[HttpRequest], HttpResponse]


def stand_at_the_door(get_response: Handler) -> Handler:
    """Django middleware, before those that look at sessions."""

    def answer(request: HttpRequest) -> HttpResponse:
        complaint = _complain_of(request)
        if complaint:
            return HttpResponseBadRequest(f"{complaint}\n", content_type="text/plain; charset=utf-8")
        return get_response(request)

    return answer


def _complain_of(request: HttpRequest) -> str:
    """What is wrong with a request, and the remedy; empty where nothing is."""
    if settings.SESSION_COOKIE_SECURE and not request.is_secure():
        return (
            f"Open {settings.ONLOOKER.console_url} instead. This port is for a proxy that sends "
            "X-Forwarded-Proto: https and X-Forwarded-For, and that ONLOOKER_TRUSTED_PROXIES names."
        )
    try:
        request.get_host()
    except DisallowedHost:
        return (
            f"This console is at {settings.ONLOOKER.console_url} and answers by no other name. "
            "Whoever runs it can give it another one in ONLOOKER_CONSOLE_URL."
        )
    if any("\0" in value for value in (request.path, *request.GET.values(), *request.COOKIES.values())):
        return "The address or a cookie has a NUL character, which nothing here has."
    return ""
