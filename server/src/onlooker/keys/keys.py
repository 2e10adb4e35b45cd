"""Keys: creating, finding and revoking them, and what each reaches."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from onlooker.keys.key_text import BEGINNING, hash_key, is_key, new_key
from onlooker.keys.models import LONGEST_KEY_NAME, KeySite, KeyStream, OrganisationKey, Scope
from onlooker.streams.models import MemberRole, Membership, Organisation, Site, Stream
from onlooker.streams.organisations import MANAGERS, RefusedError, is_higher

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

LIVE_AT_MOST = 100
"""Keys of an organisation that are neither revoked nor expired."""
REACH_AT_MOST = 500
"""Sites and streams of one key."""
SHORTEST_LIFE, LONGEST_LIFE = timedelta(minutes=1), timedelta(days=3650)
KEPT = timedelta(days=90)
"""How long a key that opens nothing any more stays listed."""
NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class NewKey:
    """A key and its text, which nobody can read again."""

    key: OrganisationKey
    text: str


def keys_of(organisation: Organisation) -> QuerySet[OrganisationKey]:
    """Live and past ones, the newest first."""
    return OrganisationKey.objects.filter(organisation=organisation).order_by("-pk")


def live_keys(now: datetime | None = None) -> QuerySet[OrganisationKey]:
    is_timely = Q(expires_at=None) | Q(expires_at__gt=now or timezone.now())
    return OrganisationKey.objects.filter(is_timely, revoked_at=None)


def is_live(key: OrganisationKey) -> bool:
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > timezone.now())


def has_scope(key: OrganisationKey, scope: Scope) -> bool:
    return scope in key.scopes


def key_roles(own: str) -> list[MemberRole]:
    """As what a key may act that somebody with this role creates, the lower first."""
    return [role for role in reversed(MANAGERS) if own in MANAGERS and not is_higher(role, own)]


def may_handle(role: str, key: OrganisationKey) -> bool:
    """Whether somebody with this role may revoke the key: nobody with less than it has."""
    return key.role in key_roles(role)


def streams_of(key: OrganisationKey) -> QuerySet[Stream]:
    """Those that it reaches, of its organisation alone."""
    streams = Stream.objects.filter(organisation=key.organisation_id, removed_at=None)
    if key.reaches_all:
        return streams
    named = KeyStream.objects.filter(key=key).values("stream")
    return streams.filter(Q(site__in=KeySite.objects.filter(key=key).values("site")) | Q(pk__in=named))


def sites_of(key: OrganisationKey) -> QuerySet[Site]:
    """Those that it reaches as a whole."""
    sites = Site.objects.filter(organisation=key.organisation_id)
    return sites if key.reaches_all else sites.filter(pk__in=KeySite.objects.filter(key=key).values("site"))


@transaction.atomic
def create_key(
    organisation: Organisation,
    name: str,
    scopes: Collection[str],
    *,
    sites: Collection[Site] = (),
    streams: Collection[Stream] = (),
    life: timedelta | None = None,
    role: str = MemberRole.MANAGER,
    by: "AbstractBaseUser | None" = None,
    within: OrganisationKey | None = None,
) -> NewKey:
    """Without sites and streams it reaches all. `within` is the key that asks: a new one gets no more than that has.

    Raises RefusedError.
    """
    chosen = [scope.value for scope in Scope if scope in scopes]
    _check_words(name, scopes, role)
    _check_reach(organisation, sites, streams)
    expires_at = _end_of(life)
    if within:
        _check_within(within, chosen, sites, streams, role=role, expires_at=expires_at)
    Organisation.objects.select_for_update(no_key=True).get(pk=organisation.pk)
    if live_keys().filter(organisation=organisation).count() >= LIVE_AT_MOST:
        text = _("An organisation has at most {most} keys. Revoke one that is not used.")
        raise RefusedError(text.format(most=LIVE_AT_MOST))
    text = new_key()
    key = OrganisationKey.objects.create(
        organisation=organisation,
        name=name.strip(),
        beginning=text[:BEGINNING],
        sha256=hash_key(text),
        scopes=chosen,
        role=role,
        reaches_all=not sites and not streams,
        created_by_id=by.pk if by else None,
        expires_at=expires_at,
    )
    if sites:
        KeySite.objects.bulk_create(KeySite(key=key, site=site) for site in sites)
    if streams:
        KeyStream.objects.bulk_create(KeyStream(key=key, stream=stream) for stream in streams)
    return NewKey(key, text)


def revoke_key(key: OrganisationKey) -> None:
    """Consoles refuse it at once, gateways within a second, data endpoints within a minute."""
    OrganisationKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now())


def find_key(text: str) -> OrganisationKey | None:
    """A live key by its text, of an organisation that has an active owner. Its use is noted."""
    if not is_key(text):
        return None
    now = timezone.now()
    owners = Membership.objects.filter(
        organisation=OuterRef("organisation"), role=MemberRole.OWNER, account__is_active=True
    )
    rows = live_keys(now).filter(Exists(owners), sha256=hash_key(text)).select_related("organisation")
    found = rows.first()
    if found and (found.used_at is None or found.used_at < now - NOTED_EVERY):
        OrganisationKey.objects.filter(pk=found.pk).update(used_at=now)
    return found


def delete_past_keys(now: datetime | None = None) -> int:
    """A chore."""
    limit = (now or timezone.now()) - KEPT
    past = OrganisationKey.objects.filter(Q(expires_at__lt=limit) | Q(revoked_at__lt=limit))
    return past.delete()[1].get("keys.OrganisationKey", 0)


def _check_words(name: str, scopes: Collection[str], role: str) -> None:
    if not 1 <= len(name.strip()) <= LONGEST_KEY_NAME or "\0" in name:
        text = _("A key needs a name of 1 to {longest} characters.")
        raise RefusedError(text.format(longest=LONGEST_KEY_NAME))
    unknown = [scope for scope in scopes if scope not in Scope.values]
    if unknown or not scopes:
        text = _("A key needs at least one of these scopes: {names}.")
        raise RefusedError(text.format(names=", ".join(Scope.values)))
    if role not in MANAGERS:
        raise RefusedError(_("A key acts as manager or as owner."))


def _check_reach(organisation: Organisation, sites: Collection[Site], streams: Collection[Stream]) -> None:
    if len(sites) + len(streams) > REACH_AT_MOST:
        text = _("A key is for at most {most} sites and streams. Let it reach all, or use sites.")
        raise RefusedError(text.format(most=REACH_AT_MOST))
    owners = {site.organisation_id for site in sites} | {stream.organisation_id for stream in streams}
    if owners - {organisation.pk}:
        raise RefusedError(_("A key reaches sites and streams of its own organisation alone."))


def _check_within(
    within: OrganisationKey,
    scopes: Collection[str],
    sites: Collection[Site],
    streams: Collection[Stream],
    *,
    role: str,
    expires_at: datetime | None,
) -> None:
    """No page comes here: a key asks at the management interface, which answers in English."""
    more = [scope for scope in scopes if scope not in within.scopes]
    if more:
        raise RefusedError(f"The key that asks has no scope {', '.join(more)}. It can give only what it has.")
    if is_higher(role, within.role):
        raise RefusedError("The key that asks acts as manager, and can't create one that acts as owner.")
    if within.expires_at and (expires_at is None or expires_at > within.expires_at):
        raise RefusedError(f"The key that asks ends on {within.expires_at:%Y-%m-%d}. Choose an earlier end.")
    if within.reaches_all:
        return
    known = set(sites_of(within).values_list("pk", flat=True)), set(streams_of(within).values_list("pk", flat=True))
    wanted = {site.pk for site in sites}, {stream.pk for stream in streams}
    if not any(wanted) or not wanted[0] <= known[0] or not wanted[1] <= known[1]:
        raise RefusedError("The key that asks reaches some sites and streams alone. Name some of these.")


def _end_of(life: timedelta | None) -> datetime | None:
    if life is None:
        return None
    if not SHORTEST_LIFE <= life <= LONGEST_LIFE:
        text = _("A key lives for 1 minute to {days} days, or has no end.")
        raise RefusedError(text.format(days=LONGEST_LIFE.days))
    return timezone.now() + life
