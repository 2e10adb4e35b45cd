"""Pages for people who are signed in."""

from collections.abc import Callable

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from onlooker.console.accounts.models import Account

ViewFunction = Callable[..., HttpResponse]


class PersonRequest(HttpRequest):
    """A request by somebody who is signed in."""

    user: Account
    htmx: HtmxDetails


def signed_in(*methods: str) -> Callable[[ViewFunction], ViewFunction]:
    """Let these methods through for accounts; send everybody else to the sign-in page."""

    def wrap(view: ViewFunction) -> ViewFunction:
        return login_required(require_http_methods(methods)(view))

    return wrap
