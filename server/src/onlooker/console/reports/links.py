"""Read-only links: creating, finding, revoking them, and the random part of their addresses."""

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from onlooker.console.dashboard.period import PeriodError
from onlooker.console.languages.locale_text import translate
from onlooker.console.reports.models import LONGEST_LABEL, LONGEST_ORIGIN, SharedLink
from onlooker.console.reports.saved_views import Subject, check_subject, is_open, stream_period, subject_of
from onlooker.streams.models import Organisation
from onlooker.streams.organisations import RefusedError

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

TOKEN_BYTES = 32
TOKEN_LENGTH = 43
"""As text."""
LIVE_AT_MOST = 200
"""Of an organisation."""
USUAL_LIFE, LONGEST_LIFE = timedelta(days=90), timedelta(days=366)
"""The longest ends with the day a year later."""
KEPT = timedelta(days=90)
"""How long a link that has ended stays listed, and says so to those who open it."""
NOTED_EVERY = timedelta(minutes=1)
ORIGINS_AT_MOST = 10
_ORIGIN = re.compile(
    r"https://(?=[^:]{1,150}(:|$))[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,5})?"
)


@dataclass(frozen=True)
class NewLink:
    """A link and its address, which nobody can read again."""

    link: SharedLink
    address: str


@dataclass(frozen=True)
class LinkChoices:
    """How a link shows its subject, and to whom."""

    label: str
    period: str
    """Empty where the days are fixed."""
    expires_at: datetime
    days: tuple[date, date] | None = None
    password: str = ""
    origins: Sequence[str] = ()


def links_of(organisation: Organisation) -> QuerySet[SharedLink]:
    """Live and past ones, the newest first."""
    rows = SharedLink.objects.filter(organisation=organisation).order_by("-pk")
    return rows.select_related("organisation", "stream", "site", "tag", "created_by")


def live_links(now: datetime | None = None) -> QuerySet[SharedLink]:
    return SharedLink.objects.filter(revoked_at=None, expires_at__gt=now or timezone.now())


@transaction.atomic
def create_link(subject: Subject, chosen: LinkChoices, *, by: "AbstractBaseUser | None" = None) -> NewLink:
    """Raises RefusedError."""
    check_subject(subject)
    _check_choices(subject, chosen, now=timezone.now())
    organisation = Organisation.objects.select_for_update(no_key=True).get(pk=subject.organisation.pk)
    if live_links().filter(organisation=organisation).count() >= LIVE_AT_MOST:
        said = ngettext(
            "An organisation has at most {count} link. Revoke one that is no longer used.",
            "An organisation has at most {count} links. Revoke one that is no longer used.",
            LIVE_AT_MOST,
        )
        raise RefusedError(said.format(count=LIVE_AT_MOST))
    token = secrets.token_urlsafe(TOKEN_BYTES)
    first_day, last_day = chosen.days or (None, None)
    link = SharedLink.objects.create(
        organisation=organisation,
        stream=subject.stream,
        site=subject.site,
        tag=subject.tag,
        label=chosen.label,
        period=chosen.period,
        first_day=first_day,
        last_day=last_day,
        token_sha256=hash_token(token),
        password=make_password(chosen.password) if chosen.password else "",
        origins=list(chosen.origins),
        created_by_id=by.pk if by else None,
        expires_at=chosen.expires_at,
    )
    return NewLink(link, settings.ONLOOKER.console_url + reverse("shared", args=[token]))


def _check_choices(subject: Subject, chosen: LinkChoices, *, now: datetime) -> None:
    if not 1 <= len(chosen.label.strip()) <= LONGEST_LABEL or "\0" in chosen.label:
        raise RefusedError(_("A link needs a label of 1 to {longest} characters.").format(longest=LONGEST_LABEL))
    if not now < chosen.expires_at <= now + LONGEST_LIFE:
        raise RefusedError(_("A link ends after today, and within a year."))
    if chosen.days is None and chosen.period not in subject.periods:
        raise RefusedError(_("Unknown period. Choose one of {names}.").format(names=", ".join(subject.periods)))
    if chosen.days is not None:
        _check_days(subject, chosen, now)
    if chosen.password and chosen.origins:
        raise RefusedError(
            _(
                "A link with a password can't be embedded: browsers keep no cookie for a page inside another site's "
                "page. Leave out the password or the origins."
            )
        )
    if len(chosen.origins) > ORIGINS_AT_MOST:
        raise RefusedError(_("A link has at most {count} origins.").format(count=ORIGINS_AT_MOST))
    for origin in chosen.origins:
        check_origin(origin)


def _check_days(subject: Subject, chosen: LinkChoices, now: datetime) -> None:
    if subject.stream is None or chosen.period:
        raise RefusedError(_("Fixed days are for a link to one stream. Choose a period that moves."))
    try:
        stream_period(subject, "", days=chosen.days, now=now)
    except PeriodError as error:
        raise RefusedError(translate(error)) from None


def check_origin(origin: str) -> None:
    """It becomes part of a header. Raises RefusedError."""
    if len(origin) > LONGEST_ORIGIN or not _ORIGIN.fullmatch(origin):
        said = _("{origin} is not an origin. Write it as https://www.example.org, without a path.")
        raise RefusedError(said.format(origin=repr(origin[:60])))


def revoke_link(link: SharedLink) -> None:
    """At once."""
    SharedLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now())


def hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def find_link(token: str) -> SharedLink | None:
    """By the random part of its address, also one that has ended."""
    if len(token) != TOKEN_LENGTH:
        return None
    rows = SharedLink.objects.select_related("organisation", "stream", "site", "tag")
    return rows.filter(token_sha256=hash_token(token)).first()


def is_live(link: SharedLink, now: datetime) -> bool:
    return link.revoked_at is None and link.expires_at > now and is_open(subject_of(link))


def note_use(link: SharedLink, now: datetime) -> None:
    if link.used_at is None or link.used_at < now - NOTED_EVERY:
        SharedLink.objects.filter(pk=link.pk).update(used_at=now)


def delete_past_links(now: datetime | None = None) -> int:
    """A chore."""
    limit = (now or timezone.now()) - KEPT
    past = SharedLink.objects.filter(Q(expires_at__lt=limit) | Q(revoked_at__lt=limit))
    return past.delete()[1].get("reports.SharedLink", 0)
