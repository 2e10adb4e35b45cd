"""Creating, changing and removing streams, for the command line and the console."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from onlooker.audit.entries import choose_kept_days
from onlooker.database import load_queries
from onlooker.streams.credentials import hash_access_token, new_access_token
from onlooker.streams.models import AccessToken, Note, OpeningHours, Organisation, StateChange, Stream
from onlooker.streams.organisations import RefusedError, organisation_of
from onlooker.streams.state import State, state_values

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

LONGEST_GRACE = timedelta(hours=24)
AUDIT_DAYS = "audit_days"
"""The one option that is not the stream's own: it belongs to its audit log."""
LIVE_TOKENS_AT_MOST = 10
"""Each of them is compared with what a device sends, so repeated rotation must not pile them up."""
TRIAL_TIME = timedelta(minutes=15)
LIVE_TRIALS_AT_MOST = 5

_queries = load_queries("onlooker.streams")


@dataclass(frozen=True)
class NewStream:
    """A stream and its access token, which nobody can read again."""

    stream: Stream
    access_token: str


def account_of(email: str) -> "AbstractBaseUser":
    """The account with this address; created without a password if there is none."""
    accounts = get_user_model()
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError:
        raise RefusedError(f"{email!r} is not an e-mail address.") from None
    return accounts.objects.filter(email=address).first() or accounts.objects.create_user(address)


@transaction.atomic
def create_stream(
    name: str,
    *,
    kind: str,
    owner: "AbstractBaseUser | None" = None,
    organisation: Organisation | None = None,
    time_zone: str = "UTC",
    at_most: int | None = None,
    **chosen: Any,
) -> NewStream:
    """In this organisation, or in the one that the owner has. `chosen` are other settings of the stream.

    `at_most` is how many streams the organisation may have; None: no limit.
    """
    belongs_to = organisation or (organisation_of(owner) if owner else None)
    if belongs_to is None:
        raise ValueError("A stream belongs to an organisation: name one, or its owner.")
    if at_most is not None:
        Organisation.objects.select_for_update(no_key=True).get(pk=belongs_to.pk)  # requests count one after another
        if Stream.objects.filter(organisation=belongs_to, removed_at=None).count() >= at_most:
            raise RefusedError(
                _("An organisation has at most {most} streams. Remove one that is not used any more.").format(
                    most=at_most
                )
            )
    stream = Stream.objects.create(name=name, organisation=belongs_to, kind=kind, time_zone=time_zone, **chosen)
    _log_hours(stream)
    StateChange.objects.create(stream=stream, state=State.ENABLED)
    return NewStream(stream, _add_access_token(stream))


@transaction.atomic
def rotate_access_token(stream: Stream, *, grace: timedelta) -> str:
    """A new access token. The current ones keep working for the grace time, but not beyond their own end."""
    if not timedelta(0) <= grace <= LONGEST_GRACE:
        raise ValueError(f"A grace time is 0 to {LONGEST_GRACE.total_seconds() / 3600:g} hours.")
    Stream.objects.select_for_update(no_key=True).get(pk=stream.pk, removed_at=None)
    now = timezone.now()
    tokens = AccessToken.objects.filter(stream=stream)
    tokens.filter(expires_at__lte=now).delete()
    if grace and tokens.filter(is_trial=False).count() >= LIVE_TOKENS_AT_MOST:
        raise RefusedError(
            _("{count} Passwords still work. Rotate without a grace time to end them all.").format(
                count=LIVE_TOKENS_AT_MOST
            )
        )
    tokens.filter(Q(expires_at=None) | Q(expires_at__gt=now + grace)).update(expires_at=now + grace)
    return _add_access_token(stream)


@dataclass(frozen=True)
class TrialToken:
    """An access token for trying a stream out, and when it ends."""

    access_token: str
    expires_at: datetime


@transaction.atomic
def add_trial_token(stream: Stream) -> TrialToken:
    """The oldest go beyond the limit, and so do expired ones: repeated trials leave no rows behind."""
    Stream.objects.select_for_update(no_key=True).get(pk=stream.pk, removed_at=None)
    expires_at = timezone.now() + TRIAL_TIME
    tokens = AccessToken.objects.filter(stream=stream, is_trial=True)
    live = tokens.filter(expires_at__gt=timezone.now()).order_by("-pk").values_list("pk", flat=True)
    tokens.exclude(pk__in=list(live[: LIVE_TRIALS_AT_MOST - 1])).delete()
    return TrialToken(_add_access_token(stream, is_trial=True, expires_at=expires_at), expires_at)


def _add_access_token(stream: Stream, *, is_trial: bool = False, expires_at: datetime | None = None) -> str:
    access_token = new_access_token()
    sha256 = hash_access_token(access_token)
    AccessToken.objects.create(stream=stream, sha256=sha256, is_trial=is_trial, expires_at=expires_at)
    return access_token


@transaction.atomic
def set_stream(client_id: str, changes: dict[str, object], *, quota_s: float) -> Stream:
    """Change a stream's options, and log its state if that changes. Raises Stream.DoesNotExist."""
    stream = Stream.objects.select_for_update(no_key=True).get(client_id=client_id, removed_at=None)
    before = (stream.hours, stream.time_zone)
    own = {name: value for name, value in changes.items() if name != AUDIT_DAYS}
    for name, value in own.items():
        setattr(stream, name, value)
    stream.save(update_fields=list(own))
    if AUDIT_DAYS in changes:
        choose_kept_days(stream.pk, cast(int, changes[AUDIT_DAYS]))
    if (stream.hours, stream.time_zone) != before:
        _log_hours(stream, was_limited=bool(before[0]))
    if {"enabled", "kind"} & changes.keys():
        log_state(stream.id, quota_s=quota_s)
    return stream


def _log_hours(stream: Stream, *, was_limited: bool = False) -> None:
    """From now on these opening hours hold; what was closed before stays so."""
    if not stream.hours and not was_limited:
        return
    now = timezone.now()
    OpeningHours.objects.create(stream=stream, since_at=now, hours=stream.hours, time_zone=stream.time_zone)
    stream.hours_since = now if stream.hours else None
    stream.save(update_fields=["hours_since"])


def log_state(stream_id: int, *, quota_s: float) -> None:
    """Log what it may do now, under the lock of its row."""
    with connection.cursor() as cursor:
        cursor.execute(_queries["log_state"], state_values(stream_id, quota_s=quota_s))


@transaction.atomic
def remove_stream(stream: Stream) -> None:
    """Its credentials end and nobody sees it any more; its data is deleted piece by piece."""
    Stream.objects.select_for_update(no_key=True).get(pk=stream.pk)  # so that nobody rotates its token meanwhile
    AccessToken.objects.filter(stream=stream).delete()
    Note.objects.filter(stream=stream).delete()
    stream.removed_at = timezone.now()
    stream.organisation = stream.site = None
    stream.name = ""
    stream.save(update_fields=["removed_at", "organisation", "site", "name"])


def list_streams() -> list[Stream]:
    return list(Stream.objects.filter(removed_at=None).select_related("organisation", "site").order_by("id"))
