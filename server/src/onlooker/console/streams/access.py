"""Who may do what: the streams that an account may see or change, by its memberships alone.

A stream, a site or an organisation that an account may not see does not exist for it.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import Http404
from django.shortcuts import get_object_or_404

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.reach import reachable_memberships
from onlooker.console.billing.subscriptions import has_subscription
from onlooker.streams.models import MemberRole, Membership, Organisation, Stream
from onlooker.streams.options import EnterpriseAccess, enterprise_access
from onlooker.streams.organisations import MANAGERS, seen_sites, whole_organisations

Person = Account | AnonymousUser


def memberships_of(account: Person) -> QuerySet[Membership]:
    """What the account may reach in its session: every page asks here."""
    return reachable_memberships(account)


def visible_streams(account: Person) -> QuerySet[Stream]:
    """Those of its organisations; as a viewer, those at chosen sites. A subquery for each uses an index, an OR none."""
    own = memberships_of(account)
    whole = Stream.objects.filter(organisation__in=whole_organisations(own).values("organisation")).values("pk")
    at_sites = Stream.objects.filter(site__in=seen_sites(own).values("site")).values("pk")
    return Stream.objects.filter(pk__in=whole.union(at_sites), removed_at=None)


def sees_stream(account_id: int) -> Q:
    """The same as a condition for few streams, whatever the account's session may reach: for programs."""
    own = Membership.objects.filter(account=account_id)
    whole = Q(organisation__in=whole_organisations(own).values("organisation"))
    return whole | Q(site__in=seen_sites(own).values("site"))


def visible_stream(account: Person, client_id: UUID) -> Stream:
    """A stream that the account may see, or Http404."""
    return get_object_or_404(visible_streams(account), client_id=client_id)


def managed_stream(account: Person, client_id: UUID) -> Stream:
    """A stream that the account may change, or Http404: for analysts and viewers too."""
    return get_object_or_404(managed_streams(account), client_id=client_id)


def managed_streams(account: Person) -> QuerySet[Stream]:
    """All that the account may change."""
    return _streams_as(account, MANAGERS)


def paid_stream(account: Person, client_id: UUID) -> Stream:
    """A stream for which the account may pay, or Http404: for managers too."""
    return get_object_or_404(_streams_as(account, (MemberRole.OWNER,)), client_id=client_id)


def _streams_as(account: Person, roles: tuple[MemberRole, ...]) -> QuerySet[Stream]:
    organisations = memberships_of(account).filter(role__in=roles).values("organisation")
    return Stream.objects.filter(organisation__in=organisations, removed_at=None)


def with_own_roles(streams: QuerySet[Stream], account: Person) -> QuerySet[Stream]:
    """With their organisations, and the account's role in each; for `may_change`."""
    own = memberships_of(account).filter(organisation=OuterRef("organisation"))
    return streams.select_related("organisation").annotate(own_role=Subquery(own.values("role")[:1]))


def may_change(stream: Stream) -> bool:
    """Whether the account that `with_own_roles` was asked for may."""
    return getattr(stream, "own_role", None) in MANAGERS


def roles_of(account: Person) -> dict[int, MemberRole]:
    """By the number of each organisation that the account is in."""
    rows = memberships_of(account).values_list("organisation_id", "role")
    return {number: MemberRole(role) for number, role in rows}


def rights_context(account: Account, stream: Stream) -> dict[str, Any]:
    """What pages of a stream ask: whether the account may change it, may pay for it, and how it gets enterprise."""
    role = roles_of(account).get(stream.organisation_id or 0)
    return {
        "is_own": role in MANAGERS,
        "is_owner": role is MemberRole.OWNER,
        "role": role,
        "way": find_way(account),
    }


def managed_organisations(account: Person) -> QuerySet[Organisation]:
    """Those in which the account may create streams."""
    managed = memberships_of(account).filter(role__in=MANAGERS).values("organisation")
    return Organisation.objects.filter(pk__in=managed).order_by("name", "id")


def own_membership(account: Person, organisation_id: int, *roles: MemberRole) -> Membership:
    """The account's membership, in one of these roles if any are named; or Http404."""
    found = memberships_of(account).select_related("organisation").filter(organisation=organisation_id)
    membership = found.filter(role__in=roles).first() if roles else found.first()
    if membership is None:
        raise Http404
    return membership


def find_way(account: Account) -> EnterpriseAccess:
    """How the account gets an enterprise stream."""
    return enterprise_access(settings.ONLOOKER, is_staff=account.is_staff)


def may_choose_kind(account: Account, stream: Stream) -> bool:
    """Whether somebody who manages it may: only without billing, and not while a subscription decides the kind."""
    return find_way(account) is EnterpriseAccess.CHOICE and not has_subscription(stream)
