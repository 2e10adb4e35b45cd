"""Whether billing is on, whether it has what it needs, and hiding its pages where it is off."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Concatenate, ParamSpec

from django.conf import settings as django_settings
from django.http import Http404, HttpRequest, HttpResponse

from onlooker.settings import Settings, SettingsError, variable_name

_NEEDED = {
    "stripe_webhook_secret": "the signing secret (whsec_...) of the webhook that calls /billing/webhook/",
    "stripe_price": "the id (price_...) of the recurring price of an enterprise stream",
}

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def is_billing_on() -> bool:
    return bool(django_settings.ONLOOKER.stripe_secret_key)


def require_billing_settings(settings: Settings) -> None:
    """All of Stripe's settings and its library, or none of the settings; raises SettingsError with the remedy."""
    if not settings.stripe_secret_key:
        return
    key = variable_name("stripe_secret_key")
    missing = [
        f"{variable_name(name)} to {meaning}" for name, meaning in _NEEDED.items() if not getattr(settings, name)
    ]
    if missing:
        raise SettingsError(f"{key} is set, so also set {' and '.join(missing)}. To run without billing, unset {key}.")
    try:
        import_module("stripe")
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{key} is set, and {error.name} is not installed. Install what requirements-billing.txt of the release "
            f"names. To run without billing, unset {key}."
        ) from None


def require_billing(view: View[P]) -> View[P]:
    """Django decorator: without Stripe keys the page does not exist."""

    @wraps(view)
    def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not is_billing_on():
            raise Http404
        return view(request, *args, **kwargs)

    return answer
