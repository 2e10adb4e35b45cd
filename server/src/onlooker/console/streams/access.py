"""Who may do what: pages for signed-in people, the streams they may see or change, how they get an enterprise stream.

A stream that an account may not see does not exist for it.
"""

from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from onlooker.console.accounts.models import Account
from onlooker.console.billing.subscriptions import has_subscription
from onlooker.streams.models import Member, Stream
from onlooker.streams.options import EnterpriseAccess, enterprise_access

Person = Account | AnonymousUser
ViewFunction = Callable[..., HttpResponse]


class PersonRequest(HttpRequest):
    """A request by somebody who is signed in."""

    user: Account
    htmx: HtmxDetails


def signed_in(*methods: str) -> Callable[[ViewFunction], ViewFunction]:
    """Let these methods through for accounts; send everybody else to the sign-in page."""

    def wrap(view: ViewFunction) -> ViewFunction:
        return login_required(require_http_methods(methods)(view))

    return wrap


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
