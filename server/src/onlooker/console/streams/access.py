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
from onlooker.console.billing.subscriptions import has_subscription
from onlooker.streams.models import Membership, MemberRole, Organisation, Stream
from onlooker.streams.options import EnterpriseAccess, enterprise_access
from onlooker.streams.organisations import MANAGERS, seen_sites, whole_organisations

Person = Account | AnonymousUser


def visible_streams(account: Person) -> QuerySet[Stream]:
    """Those of its organisations; as a viewer, those at chosen sites. A subquery for each uses an index, an OR none."""
    whole = Stream.objects.filter(organisation__in=whole_organisations(account.pk).values("organisation")).values("pk")
    at_sites = Stream.objects.filter(site__in=seen_sites(account.pk).values("site")).values("pk")
    return Stream.objects.filter(pk__in=whole.union(at_sites), removed_at=None)


def sees_stream(account: Any) -> Q:
    """The same as a condition for few streams; `account` may be an outer reference."""
    whole = Q(organisation__in=whole_organisations(account).values("organisation"))
    return whole | Q(site__in=seen_sites(account).values("site"))


def visible_stream(account: Person, client_id: UUID) -> Stream:
    """A stream that the account may see, or Http404."""
    return get_object_or_404(visible_streams(account), client_id=client_id)


def managed_stream(account: Person, client_id: UUID) -> Stream:
    """A stream that the account may change, or Http404: for analysts and viewers too."""
    return _stream_as(account, client_id, MANAGERS)


def paid_stream(account: Person, client_id: UUID) -> Stream:
    """A stream for which the account may pay, or Http404: for managers too."""
    return _stream_as(account, client_id, (MemberRole.OWNER,))


def _stream_as(account: Person, client_id: UUID, roles: tuple[MemberRole, ...]) -> Stream:
    organisations = Membership.objects.filter(account=account.pk, role__in=roles).values("organisation")
    return get_object_or_404(Stream, organisation__in=organisations, client_id=client_id, removed_at=None)


def with_own_roles(streams: QuerySet[Stream], account: Person) -> QuerySet[Stream]:
    """With their organisations, and the account's role in each; for `may_change`."""
    own = Membership.objects.filter(account=account.pk, organisation=OuterRef("organisation"))
    return streams.select_related("organisation").annotate(own_role=Subquery(own.values("role")[:1]))


def may_change(stream: Stream) -> bool:
    """Whether the account that `with_own_roles` was asked for may."""
    return getattr(stream, "own_role", None) in MANAGERS


def roles_of(account: Person) -> dict[int, MemberRole]:
    """By the number of each organisation that the account is in."""
    rows = Membership.objects.filter(account=account.pk).values_list("organisation_id", "role")
    return {number: MemberRole(role) for number, role in rows}


def rights_context(account: Account, stream: Stream) -> dict[str, Any]:
    """What pages of a stream ask: whether the account may change it, may pay for it, and how it gets enterprise."""
    role = roles_of(account).get(stream.organisation_id or 0)
    return {
        "is_own": role in MANAGERS,
        "is_owner": role is MemberRole.OWNER,
        "way": find_way(account),
    }


def managed_organisations(account: Person) -> QuerySet[Organisation]:
    """Those in which the account may create streams."""
    managed = Membership.objects.filter(account=account.pk, role__in=MANAGERS).values("organisation")
    return Organisation.objects.filter(pk__in=managed).order_by("name", "id")


def own_membership(account: Person, organisation_id: int, *roles: MemberRole) -> Membership:
    """The account's membership, in one of these roles if any are named; or Http404."""
    found = Membership.objects.select_related("organisation").filter(account=account.pk, organisation=organisation_id)
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
