"""The second factor: its secrets are sealed, and its owner is told when somebody knows the password only."""

import logging
from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.adapter import get_adapter as get_second_factor_adapter
from allauth.mfa.totp.internal.auth import generate_totp_secret
from django.http import HttpRequest

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.throttling import is_within
from onlooker.console.secret import InvalidToken, seal, unseal

log = logging.getLogger(__name__)

WRONG_CODES_UNTOLD = "4/h/key"
TOLD_AT_MOST = "1/d/key"


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Seals what allauth would store as it is."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "This is not the right code. Use the newest one; each counts once, for 30 seconds. "
        "If none is right, check the clock of your telephone.",
    }

    def encrypt(self, text: str) -> str:
        return seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Under another secret key than it was sealed with no code is right."""
        try:
            return unseal(encrypted_text)
        except InvalidToken:
            log.error("second factor not readable: the secret key has changed")
            return str(generate_totp_secret())


def has_second_factor(account: Account) -> bool:
    return bool(get_second_factor_adapter().is_mfa_enabled(account, ["totp"]))


def tell_of_wrong_codes(sender: Any, *, request: HttpRequest, user: Account, **kwargs: Any) -> None:
    """Five wrong codes in an hour come from somebody who has the password already."""
    key = str(user.pk)
    if is_within(request, "wrong_codes", rates=WRONG_CODES_UNTOLD, key=key):
        return
    if is_within(request, "wrong_codes_told", rates=TOLD_AT_MOST, key=key):
        get_second_factor_adapter().send_notification_mail("mfa/email/wrong_codes", user)
