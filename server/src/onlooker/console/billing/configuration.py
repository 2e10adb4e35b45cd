"""Whether there is billing at all, and whether its settings are complete."""

from django.conf import settings as django_settings

from onlooker.settings import Settings, SettingsError, variable_name

_NEEDED = {
    "stripe_webhook_secret": "the signing secret (whsec_...) of the webhook that calls /billing/webhook/",
    "stripe_price": "the id (price_...) of the recurring price of an enterprise stream",
}


def is_billing_on() -> bool:
    return bool(django_settings.ONLOOKER.stripe_secret_key)


def require_billing_settings(settings: Settings) -> None:
    """All of Stripe's settings or none; raises SettingsError with the remedy."""
    if not settings.stripe_secret_key:
        return
    missing = [
        f"{variable_name(name)} to {meaning}" for name, meaning in _NEEDED.items() if not getattr(settings, name)
    ]
    if missing:
        key = variable_name("stripe_secret_key")
        raise SettingsError(f"{key} is set, so set also {' and '.join(missing)}; or unset {key} for no billing.")
