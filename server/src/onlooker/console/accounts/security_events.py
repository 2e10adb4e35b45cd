"""The log of an account: every change of how it signs in, for its owner to read. It only grows, and ends with age."""

from datetime import datetime, timedelta
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.accounts.models import Account, SecurityEvent
from onlooker.console.accounts.rate_limit import client_address

EVENTS_KEPT = timedelta(days=365)
EVENTS_SHOWN = 100
LONGEST_DETAIL = 200
ENDED_AT_ONCE = 1000
SENTENCES = {
    "address.changed": _lazy("E-mail address changed"),
    "password.changed": _lazy("Password changed"),
    "password.reset": _lazy("Password reset by e-mail"),
    "organisation.provider_changed": _lazy("Provider of an organisation changed"),
    "organisation.provider_removed": _lazy("Provider of an organisation removed"),
    "passkey.added": _lazy("Passkey added"),
    "passkey.removed": _lazy("Passkey removed"),
    "passkey.renamed": _lazy("Passkey renamed"),
    "provider.connected": _lazy("Connected with an organisation's sign-in"),
    "recovery_code.used": _lazy("Recovery code used"),
    "recovery_codes.created": _lazy("Recovery codes created"),
    "second_factor.off": _lazy("Authenticator app removed"),
    "second_factor.on": _lazy("Authenticator app set up"),
    "second_factor.removed_by_operator": _lazy("Second factor removed by this server's administrator"),
}
"""Every kind of event, and what the page calls it."""
_ADDED = {"totp": "second_factor.on", "webauthn": "passkey.added", "recovery_codes": "recovery_codes.created"}
_REMOVED = {"totp": "second_factor.off", "webauthn": "passkey.removed"}


def note_event(request: HttpRequest | None, account: Account, action: str, detail: str = "") -> None:
    """Without a request it was done on the command line."""
    address = client_address(request) if request else ""
    SecurityEvent.objects.create(account=account, action=action, detail=detail[:LONGEST_DETAIL], address=address)


def recent_events(account: Account) -> list[SecurityEvent]:
    return list(account.security_events.order_by("-id")[:EVENTS_SHOWN])


def end_past_events(now: datetime | None = None) -> int:
    """A chore; returns how many events ended."""
    past = SecurityEvent.objects.filter(at__lt=(now or timezone.now()) - EVENTS_KEPT).values("pk")[:ENDED_AT_ONCE]
    return int(SecurityEvent.objects.filter(pk__in=past).delete()[0])


def note_added(sender: Any, *, request: HttpRequest, user: Account, authenticator: Authenticator, **_: Any) -> None:
    note_event(request, user, _ADDED[authenticator.type], _name(authenticator))


def note_reset(sender: Any, *, request: HttpRequest, user: Account, **_: Any) -> None:
    note_event(request, user, "recovery_codes.created")


def note_removed(sender: Any, *, request: HttpRequest, user: Account, authenticator: Authenticator, **_: Any) -> None:
    """Recovery codes go with the last factor, which is noted already."""
    if authenticator.type in _REMOVED:
        note_event(request, user, _REMOVED[authenticator.type], _name(authenticator))


def note_used(sender: Any, *, request: HttpRequest, user: Account, authenticator: Authenticator, **_: Any) -> None:
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        note_event(request, user, "recovery_code.used")


def note_password_changed(sender: Any, *, request: HttpRequest, user: Account, **_: Any) -> None:
    note_event(request, user, "password.changed")


def note_password_reset(sender: Any, *, request: HttpRequest, user: Account, **_: Any) -> None:
    note_event(request, user, "password.reset")


def note_address_changed(
    sender: Any, *, request: HttpRequest, user: Account, from_email_address: EmailAddress | None, **_: Any
) -> None:
    """The first address that an account confirms changes nothing."""
    if from_email_address:
        note_event(request, user, "address.changed")


def _name(authenticator: Authenticator) -> str:
    return str(authenticator) if authenticator.type == Authenticator.Type.WEBAUTHN else ""
