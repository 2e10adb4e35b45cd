"""Who may do what: the streams that an account may see or change, and how it gets an enterprise stream.

A stream that an account may not see does not exist for it.
"""

from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from onlooker.console.accounts.models import Account
from onlooker.console.billing.subscriptions import has_subscription
from onlooker.streams.models import Member, Stream
from onlooker.streams.options import EnterpriseAccess, enterprise_access

Person = Account | AnonymousUser


def visible_streams(account: Person) -> QuerySet[Stream]:
    """Its own, and those shared with it. Two subqueries use an index each; an OR would use none."""
    own = Stream.objects.filter(owner=account.pk).values("pk")
    shared = Member.objects.filter(account=account.pk).values("stream")
    return Stream.objects.filter(pk__in=own.union(shared), removed_at=None)


def visible_stream(account: Person, client_id: UUID) -> Stream:
    """A stream that the account may see, or Http404."""
    return get_object_or_404(visible_streams(account), client_id=client_id)


def owned_stream(account: Person, client_id: UUID) -> Stream:
    """A stream that the account may change, or Http404: for members too."""
    return get_object_or_404(Stream, owner=account.pk, client_id=client_id, removed_at=None)


def find_way(account: Account) -> EnterpriseAccess:
    """How the account gets an enterprise stream."""
    return enterprise_access(settings.ONLOOKER, is_staff=account.is_staff)


def may_choose_kind(stream: Stream) -> bool:
    """Whether its owner may: only without billing, and not while an older subscription decides the kind."""
    return (
        stream.owner is not None and find_way(stream.owner) is EnterpriseAccess.CHOICE and not has_subscription(stream)
    )
