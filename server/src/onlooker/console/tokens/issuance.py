"""Issues tokens, to members who see a stream and have one of its valid access tokens."""

import hmac
import time
from dataclasses import dataclass
from uuid import UUID

import jwt
from allauth.account.models import EmailAddress
from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.console.streams.access import sees_stream
from onlooker.console.tokens.signing_keys import TOKEN_LIFETIME, signing_key
from onlooker.streams.bearer_tokens import ALGORITHM, AUDIENCE
from onlooker.streams.credentials import hash_access_token
from onlooker.streams.models import AccessToken, Stream

NO_CLIENT_ID = UUID(int=0)
"""A client_id that no stream has, looked up in place of an invalid one."""
NO_ACCOUNT = 0
"""The number of no account, for the same reason."""
_NO_TOKEN = AccessToken(sha256=bytes(32))
LONGEST_EMAIL = 254


@dataclass(frozen=True)
class TokenSubject:
    """Whom a token is about: an account and the stream credential it presented."""

    account_id: int
    email: str
    client_id: UUID
    stream_id: int
    credential_id: int


def find_token_subject(username: str, *, client_id: str, access_token: str) -> TokenSubject | None:
    """Does the same work whatever is wrong, so that response times reveal nothing."""
    asked = _read_client_id(client_id)
    credential = _find_credential(asked, access_token)
    account = _find_account(username, asked)
    if account is None or credential is None:
        return None
    return TokenSubject(account.pk, account.email, asked, credential.stream_id, credential.pk)


def _read_client_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return NO_CLIENT_ID


def _find_credential(client_id: UUID, access_token: str) -> AccessToken | None:
    """All are compared, each in constant time. A trial token is not accepted."""
    live = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    tokens = AccessToken.objects.filter(live, is_trial=False, stream__removed_at=None)
    known = list(tokens.filter(stream__client_id=client_id))
    given = hash_access_token(access_token)
    right = [one for one in known or [_NO_TOKEN] if hmac.compare_digest(given, bytes(one.sha256))]
    return right[0] if right else None


def _find_account(username: str, client_id: UUID) -> Account | None:
    """An active account of the stream, with a confirmed address."""
    email = username.lower() if "\0" not in username and len(username) <= LONGEST_EMAIL else ""
    accounts = _accounts_with_own_address().alias(address=Lower("email"))
    account = accounts.filter(address=email, is_active=True).first()
    seen = Stream.objects.filter(sees_stream(account.pk if account else NO_ACCOUNT), client_id=client_id)
    return account if seen.filter(removed_at=None).exists() else None


def _accounts_with_own_address() -> QuerySet[Account]:
    """Verified by mail, or created by an operator without the need to verify."""
    unverified = EmailAddress.objects.filter(user=OuterRef("pk"), verified=False).alias(address=Lower("email"))
    return Account.objects.exclude(Exists(unverified.filter(address=Lower(OuterRef("email")))))


def issue_token(subject: TokenSubject) -> str:
    """A signed JWT; `credential` binds it to the access token it was issued for, so that both end together."""
    kid, private = signing_key()
    now = int(time.time())
    claims = {
        "iss": settings.ONLOOKER.console_url,
        "aud": AUDIENCE,
        "username": subject.email,
        "user_id": subject.account_id,
        "client_id": str(subject.client_id),
        "credential": subject.credential_id,
        "orig_iat": now,
        "iat": now,
        "exp": now + int(TOKEN_LIFETIME.total_seconds()),
    }
    return jwt.encode(claims, private, algorithm=ALGORITHM, headers={"kid": kid})
