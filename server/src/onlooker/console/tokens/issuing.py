"""Making a token: who asked, for which stream, with which credential."""

import time

import jwt
from django.conf import settings

from onlooker.console.tokens.holders import Holder
from onlooker.console.tokens.keys import TOKEN_LIFETIME, signing_key
from onlooker.streams.bearers import ALGORITHM, AUDIENCE


def issue_token(holder: Holder) -> str:
    """A signed JWT; `credential` ties it to the access token it was got with, so that it dies with it."""
    kid, private = signing_key()
    now = int(time.time())
    claims = {
        "iss": settings.ONLOOKER.console_url,
        "aud": AUDIENCE,
        "username": holder.email,
        "email": holder.email,
        "user_id": holder.account_id,
        "client_id": str(holder.client_id),
        "credential": holder.credential_id,
        "orig_iat": now,
        "iat": now,
        "exp": now + int(TOKEN_LIFETIME.total_seconds()),
    }
    return jwt.encode(claims, private, algorithm=ALGORITHM, headers={"kid": kid})
