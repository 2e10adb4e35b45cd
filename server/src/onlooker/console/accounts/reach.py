"""What a session reaches: organisations may require a second factor, and a provider's session reaches only its own."""

from copy import copy

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.http import HttpRequest

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.second_factor import FACTORS
from onlooker.streams.models import Membership, Organisation

REACHES_ONLY = "reaches_only"
"""In a session that an organisation's provider began: the organisation's number."""
Person = Account | AnonymousUser


def reachable_memberships(account: Person) -> QuerySet[Membership]:
    """An account's memberships that count in this session. Everything that pages show of streams follows from them."""
    memberships = Membership.objects.filter(account=account.pk)
    if not isinstance(account, Account):
        return memberships.none()
    if account.reaches_only is not None:
        memberships = memberships.filter(organisation=account.reaches_only)
    if account.assumes_second_factor or not account.may_lack_factor:
        return memberships
    factors = Authenticator.objects.filter(user_id=account.pk, type__in=FACTORS)
    return memberships.filter(Q(organisation__requires_second_factor=False) | Exists(factors))


def lacks_required_factor() -> "ExpressionWrapper[Q]":
    """As a condition about accounts: an organisation of theirs requires a second factor, and they have none."""
    strict = Membership.objects.filter(account=OuterRef("pk"), organisation__requires_second_factor=True)
    factors = Authenticator.objects.filter(user_id=OuterRef("pk"), type__in=FACTORS)
    return ExpressionWrapper(Exists(strict) & ~Exists(factors), output_field=BooleanField())


def organisations_that_wait(account: Account) -> QuerySet[Organisation]:
    """Those of which the account sees nothing until it has a second factor."""
    if not account.may_lack_factor:
        return Organisation.objects.none()
    memberships = reachable_memberships(assume_second_factor(account)).exclude(
        pk__in=reachable_memberships(account).values("pk")
    )
    return Organisation.objects.filter(pk__in=memberships.values("organisation")).order_by("name", "pk")


def may_have_own_organisation(account: Account) -> bool:
    """Whether a first stream may create one: not in a provider's session, nor while an own one waits."""
    return account.reaches_only is None and not organisations_that_wait(account).exists()


def assume_second_factor(account: Account) -> Account:
    """The same account as it would be with one; for questions, never for an answer's content."""
    assumed = copy(account)
    assumed.assumes_second_factor = True
    return assumed


def begin_limited_session(request: HttpRequest, *, organisation_id: int) -> None:
    request.session[REACHES_ONLY] = organisation_id


def limit_to_session(account: Person, session: SessionBase) -> Person:
    """The account of a session, with what the session reaches."""
    if REACHES_ONLY in session and isinstance(account, Account):
        account.reaches_only = int(session[REACHES_ONLY])
    return account
