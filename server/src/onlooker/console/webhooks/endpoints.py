"""Endpoints of webhooks: creating, changing and removing them, their secrets, a test event, sending something again."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from onlooker.console.languages.locale_text import translate
from onlooker.console.web.secret_key import seal
from onlooker.streams.models import Organisation
from onlooker.streams.organisations import RefusedError
from onlooker.webhooks.addresses import BadUrlError, check_url, parse_networks
from onlooker.webhooks.events import EVENTS, TEST, put_test
from onlooker.webhooks.models import Delivery, Endpoint, EndpointSecret
from onlooker.webhooks.signature import new_secret

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

ENDPOINTS_AT_MOST = 10
"""Of an organisation."""
LONGEST_NAME = 80
BOTH_SIGN = timedelta(days=1)
"""How long the secret before goes on signing."""
TESTS_WAITING = 10
CHOSEN_EVENTS = tuple(name for name in EVENTS if name != TEST)


@dataclass(frozen=True)
class NewEndpoint:
    """An endpoint and its secret, which is shown once."""

    endpoint: Endpoint
    secret: str


@transaction.atomic
def create_endpoint(
    organisation: Organisation,
    url: str,
    *,
    events: Iterable[str] = (),
    name: str = "",
    by: "AbstractBaseUser | None" = None,
) -> NewEndpoint:
    """Raises RefusedError."""
    Organisation.objects.select_for_update(no_key=True).get(pk=organisation.pk)
    if Endpoint.objects.filter(organisation=organisation).count() >= ENDPOINTS_AT_MOST:
        text = _("An organisation has at most {most} webhooks. Remove one that is no longer needed.")
        raise RefusedError(text.format(most=ENDPOINTS_AT_MOST))
    endpoint = Endpoint.objects.create(
        organisation=organisation,
        url=_checked_url(url),
        events=_checked_events(events),
        name=_checked_name(name),
        created_by_id=by.pk if by else None,
    )
    return NewEndpoint(endpoint, _add_secret(endpoint))


@transaction.atomic
def change_endpoint(
    endpoint: Endpoint,
    *,
    url: str | None = None,
    events: Iterable[str] | None = None,
    name: str | None = None,
    enabled: bool | None = None,
) -> Endpoint:
    """What is None stays. What waits is sent to the new URL. Raises RefusedError."""
    row = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    if url is not None:
        row.url = _checked_url(url)
    if events is not None:
        row.events = _checked_events(events)
    if name is not None:
        row.name = _checked_name(name)
    if enabled is True and row.disabled_at:
        row.disabled_at, row.disabled_why, row.told_at = None, "", None
        row.failures, row.failing_since, row.rest_until = 0, None, timezone.now()
    elif enabled is False and not row.disabled_at:
        row.disabled_at, row.disabled_why = timezone.now(), Endpoint.Disabled.BY_PERSON
    row.save()
    return row


def remove_endpoint(endpoint: Endpoint) -> None:
    """With what still waits to be sent there."""
    endpoint.delete()


@transaction.atomic
def replace_secret(endpoint: Endpoint) -> str:
    """The new secret; the one before signs too for a day. One that was being replaced already ends now."""
    Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    rows = EndpointSecret.objects.filter(endpoint=endpoint)
    rows.filter(expires_at__isnull=False).delete()
    rows.update(expires_at=timezone.now() + BOTH_SIGN)
    return _add_secret(endpoint)


def send_test(endpoint: Endpoint) -> Delivery:
    """Raises RefusedError."""
    if endpoint.disabled_at:
        raise RefusedError(_("This webhook is disabled. Enable it first."))
    if endpoint.waiting().filter(event=TEST).count() >= TESTS_WAITING:
        raise RefusedError(_("Ten test events wait already. Wait until they are delivered."))
    return put_test(endpoint)


@transaction.atomic
def replay(delivery: Delivery) -> Delivery:
    """Send it again, with the same id, and with as many tries as a new one. Raises RefusedError."""
    row = Delivery.objects.select_for_update(no_key=True, of=("self",)).select_related("endpoint").get(pk=delivery.pk)
    if row.endpoint.disabled_at:
        raise RefusedError(_("This webhook is disabled. Enable it first."))
    row.tries, row.next_try_at, row.delivered_at, row.failed_at = 0, timezone.now(), None, None
    row.save(update_fields=["tries", "next_try_at", "delivered_at", "failed_at"])
    return row


def _add_secret(endpoint: Endpoint) -> str:
    secret = new_secret()
    EndpointSecret.objects.create(endpoint=endpoint, sealed_secret=seal(secret))
    return secret


def _checked_url(url: str) -> str:
    try:
        return check_url(url, parse_networks(settings.ONLOOKER))
    except BadUrlError as error:
        raise RefusedError(translate(error)) from None


def _checked_events(events: Iterable[str]) -> list[str]:
    chosen = set(events)
    if unknown := sorted(chosen - set(CHOSEN_EVENTS)):
        text = _("There is no event {event}. Choose from {names}.")
        raise RefusedError(text.format(event=repr(unknown[0][:60]), names=", ".join(CHOSEN_EVENTS)))
    return [name for name in CHOSEN_EVENTS if name in chosen]


def _checked_name(name: str) -> str:
    plain = " ".join(name.replace("\0", "").split())
    if len(plain) > LONGEST_NAME:
        raise RefusedError(_("A name has at most {longest} characters.").format(longest=LONGEST_NAME))
    return plain
