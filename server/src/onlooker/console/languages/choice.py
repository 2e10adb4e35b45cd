"""In which language a request is answered and a mail written: the account's, else the browser's, else English."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

from onlooker.console.accounts.models import Account

OF_PROGRAMS = (
    *("/api/", "/api-token-authstream", "/agent/", "/metrics", "/livez", "/readyz"),
    *("/devices/enrol/", "/devices/credential/", "/devices/configuration/", "/devices/health/"),
)
"""Programs read these answers: always English."""


def choose_language(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Django middleware, after those of sessions and accounts; before it, LocaleMiddleware took the browser's."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.path.startswith(OF_PROGRAMS):
            translation.activate(settings.LANGUAGE_CODE)
        elif (language := _language_of_account(request)) and language in dict(settings.LANGUAGES):
            translation.activate(language)
        request.LANGUAGE_CODE = translation.get_language()
        return get_response(request)

    return answer


def _language_of_account(request: HttpRequest) -> str:
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or not request.user.is_authenticated:
        return ""
    return request.user.language


def language_of(email: str, otherwise: str = "") -> str:
    """In which language to write to an address; `otherwise` to one whose owner has chosen none."""
    found = Account.objects.filter(email=email.strip().lower()).values_list("language", flat=True).first()
    return found or otherwise or settings.LANGUAGE_CODE


@contextmanager
def write_to(email: str, *, otherwise: str = "") -> Iterator[None]:
    """What is said inside is in the language of this address."""
    with translation.override(language_of(email, otherwise=otherwise)):
        yield
