"""Organisations and who is in them: an account's own, roles, what a member sees, the end of an organisation."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from onlooker.sentences import Sentence
from onlooker.streams.models import AccessToken, MemberRole, Membership, MembershipSite, Organisation, Site, Stream

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

MANAGERS = (MemberRole.OWNER, MemberRole.MANAGER)
"""Who may change streams and sites."""
LAST_OWNER = Sentence("An organisation needs an owner. Make somebody else an owner first, or delete the organisation.")
_LONGEST_NAME = 100


class RefusedError(ValueError):
    """The request exceeds a limit or breaks a rule; the message names the remedy."""


@transaction.atomic
def organisation_of(account: "AbstractBaseUser") -> Organisation:
    """The account's own: the oldest that it owns; created if it owns none."""
    get_user_model().objects.select_for_update(no_key=True).get(pk=account.pk)  # two first streams at once
    owned = Membership.objects.filter(account=account.pk, role=MemberRole.OWNER).select_related("organisation")
    known = owned.order_by("id").first()
    return known.organisation if known else create_organisation(account.get_username(), account)


@transaction.atomic
def create_organisation(name: str, owner: "AbstractBaseUser") -> Organisation:
    organisation = Organisation.objects.create(name=name[:_LONGEST_NAME])
    Membership.objects.create(organisation=organisation, account_id=owner.pk, role=MemberRole.OWNER)
    return organisation


def whole_organisations(memberships: QuerySet[Membership]) -> QuerySet[Membership]:
    """Those in which every stream is seen."""
    return memberships.exclude(role=MemberRole.VIEWER)


def seen_sites(memberships: QuerySet[Membership]) -> QuerySet[MembershipSite]:
    """The sites that are seen by viewers."""
    links = MembershipSite.objects.filter(membership__in=memberships.filter(role=MemberRole.VIEWER).values("pk"))
    return links.filter(site__organisation=F("membership__organisation"))


def has_active_owner(stream: Stream) -> bool:
    """Without one nothing of the organisation computes."""
    owners = Membership.objects.filter(organisation=stream.organisation_id, role=MemberRole.OWNER)
    return owners.filter(account__is_active=True).exists()


def add_member(
    organisation: Organisation, account: "AbstractBaseUser", role: str, sites: Collection[Site] = ()
) -> Membership:
    """A member who is already there keeps the higher role; a viewer's sites are added to."""
    found, is_new = Membership.objects.get_or_create(
        organisation=organisation, account_id=account.pk, defaults={"role": role}
    )
    if not is_new and is_higher(role, found.role):
        found.role = role
        found.save(update_fields=["role"])
    if found.role == MemberRole.VIEWER:
        links = [MembershipSite(membership=found, site=site) for site in sites]
        MembershipSite.objects.bulk_create(links, ignore_conflicts=True)
    else:
        found.site_links.all().delete()
    return found


def is_higher(role: str, other: str) -> bool:
    return MemberRole.values.index(role) < MemberRole.values.index(other)


def grantable_roles(own: str) -> list[MemberRole]:
    """Owners give every role, managers those below their own."""
    return [role for role in MemberRole if own == MemberRole.OWNER or is_higher(own, role)]


def set_organisation(organisation: Organisation, changes: Mapping[str, Any]) -> None:
    """Its name, or whether its members need a second factor."""
    for name, value in changes.items():
        setattr(organisation, name, value)
    organisation.save(update_fields=list(changes))


@transaction.atomic
def change_member(membership: Membership, role: str, sites: Collection[Site] = ()) -> None:
    """Another role, or other sites of a viewer. Raises RefusedError for the last owner."""
    _check_owners(membership, stays=role == MemberRole.OWNER)
    membership.role = role
    membership.save(update_fields=["role"])
    chosen = {site.pk for site in sites} if role == MemberRole.VIEWER else set()
    known = set(membership.site_links.values_list("site_id", flat=True))
    membership.site_links.exclude(site__in=chosen).delete()
    MembershipSite.objects.bulk_create(
        MembershipSite(membership=membership, site_id=number) for number in sorted(chosen - known)
    )


@transaction.atomic
def remove_member(membership: Membership) -> None:
    """Raises RefusedError for the last owner."""
    _check_owners(membership, stays=False)
    membership.delete()


def _check_owners(membership: Membership, *, stays: bool) -> None:
    """Under the organisation's lock: two owners who leave at once do not both leave."""
    Organisation.objects.select_for_update(no_key=True).get(pk=membership.organisation_id)
    others = Membership.objects.filter(organisation=membership.organisation_id, role=MemberRole.OWNER)
    if membership.role == MemberRole.OWNER and not stays and not others.exclude(pk=membership.pk).exists():
        raise RefusedError(LAST_OWNER)


def organisations_without(account: "AbstractBaseUser") -> QuerySet[Organisation]:
    """Those that end when the account does: it is their only owner."""
    owned = Membership.objects.filter(organisation=OuterRef("pk"), role=MemberRole.OWNER)
    mine, others = Exists(owned.filter(account=account.pk)), Exists(owned.exclude(account=account.pk))
    return Organisation.objects.filter(mine, ~others).order_by("id")


@transaction.atomic
def remove_organisation(organisation: Organisation) -> int:
    """With all its streams; returns how many. Its members' accounts stay."""
    Organisation.objects.select_for_update().get(pk=organisation.pk)  # no stream can be created meanwhile
    streams = list(Stream.objects.select_for_update(no_key=True).filter(organisation=organisation).order_by("id"))
    numbers = [stream.pk for stream in streams]
    AccessToken.objects.filter(stream__in=numbers).delete()
    Stream.objects.filter(pk__in=numbers).update(removed_at=timezone.now(), organisation=None, site=None, name="")
    organisation.delete()
    return len(numbers)
