"""Pages for people who are signed in."""

from collections.abc import Callable

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from onlooker.console.accounts.models import Account


class PersonRequest(HttpRequest):
    """A request of somebody known."""

    user: Account
    htmx: HtmxDetails


View = Callable[..., HttpResponse]


def signed_in(*methods: str) -> Callable[[View], View]:
    """Lets these methods through for accounts; everybody else goes to the login page."""

    def wrap(view: View) -> View:
        return login_required(require_http_methods(methods)(view))

    return wrap
