"""Who may have a token: the owner or a member of a stream, with one of its live access tokens."""

import hmac
from dataclasses import dataclass
from uuid import UUID

from allauth.account.models import EmailAddress
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.streams.credentials import hash_access_token
from onlooker.streams.models import AccessToken, Member, Stream

NOBODY = UUID(int=0)
"""A client_id that no stream has, looked up where what was given is none."""
_NO_TOKEN = AccessToken(sha256=bytes(32))
LONGEST_EMAIL = 254


@dataclass(frozen=True)
class Holder:
    """An account with a stream's credential."""

    account_id: int
    email: str
    client_id: UUID
    stream_id: int
    credential_id: int


def find_holder(username: str, *, client_id: str, access_token: str) -> Holder | None:
    """The same work whatever is wrong, so that the time of an answer says nothing."""
    asked = _read_client_id(client_id)
    credential = _find_credential(asked, access_token)
    account = _find_account(username, asked)
    if account is None or credential is None:
        return None
    return Holder(account.pk, account.email, asked, credential.stream_id, credential.pk)


def _read_client_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return NOBODY


def _find_credential(client_id: UUID, access_token: str) -> AccessToken | None:
    """All are compared, each in constant time. Who only tries a stream out gets no token by that."""
    live = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    tokens = AccessToken.objects.filter(live, is_trial=False, stream__removed_at=None)
    known = list(tokens.filter(stream__client_id=client_id))
    given = hash_access_token(access_token)
    right = [one for one in known or [_NO_TOKEN] if hmac.compare_digest(given, bytes(one.sha256))]
    return right[0] if right else None


def _find_account(username: str, client_id: UUID) -> Account | None:
    """An active account of the stream whose address is known to be its own."""
    email = username.lower() if "\0" not in username and len(username) <= LONGEST_EMAIL else ""
    owned = Stream.objects.filter(owner=OuterRef("pk"), client_id=client_id, removed_at=None)
    shared = Member.objects.filter(account=OuterRef("pk"), stream__client_id=client_id, stream__removed_at=None)
    accounts = _accounts_with_own_address().alias(address=Lower("email"))
    return accounts.filter(Exists(owned) | Exists(shared), address=email, is_active=True).first()


def _accounts_with_own_address() -> QuerySet[Account]:
    """Verified by mail; or typed by an operator, who makes accounts without anything to verify."""
    unverified = EmailAddress.objects.filter(user=OuterRef("pk"), verified=False).alias(address=Lower("email"))
    return Account.objects.exclude(Exists(unverified.filter(address=Lower(OuterRef("email")))))
