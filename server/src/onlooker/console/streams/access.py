"""Which streams an account may see, and which it may change; whatever else there is does not exist for it."""

from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from onlooker.console.accounts.models import Account
from onlooker.streams.models import Member, Stream

Person = Account | AnonymousUser


def visible_streams(account: Person) -> QuerySet[Stream]:
    """Its own, and those it is a member of; found by two indexes, which an OR would not use."""
    own = Stream.objects.filter(owner=account.pk).values("pk")
    shared = Member.objects.filter(account=account.pk).values("stream")
    return Stream.objects.filter(pk__in=own.union(shared), removed_at=None)


def visible_stream(account: Person, client_id: UUID) -> Stream:
    """One that it may look at; Http404 where there is none."""
    return get_object_or_404(visible_streams(account), client_id=client_id)


def owned_stream(account: Person, client_id: UUID) -> Stream:
    """One that it may change; Http404 where there is none, for members too."""
    return get_object_or_404(Stream, owner=account.pk, client_id=client_id, removed_at=None)
