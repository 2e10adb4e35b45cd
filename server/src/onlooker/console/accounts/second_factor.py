"""The second factor: a passkey, or codes whose secret is encrypted; owners are warned if a password may be known."""

import logging
from typing import Any
from urllib.parse import urlsplit

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.adapter import get_adapter as get_second_factor_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import generate_totp_secret
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.rate_limit import take_within_limit
from onlooker.console.web.secret_key import EARLIER_KEY_REMEDY, InvalidToken, seal, unseal
from onlooker.logs import fields

log = logging.getLogger(__name__)

WRONG_CODES_TOLERATED = "4/h/key"
WARNINGS_LIMIT = "1/d/key"
FACTORS = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
"""Any of these counts; recovery codes only stand in for one."""


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypts what allauth would store in plain text."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _lazy(
            "This code is wrong. Use the latest one; each works once, for 30 seconds. "
            "If no code works, check the clock of your phone."
        ),
    }

    def encrypt(self, text: str) -> str:
        return seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """If the secret key has changed, no code is right."""
        try:
            return unseal(encrypted_text)
        except InvalidToken:
            log.error("second factor not readable: the secret key has changed", extra=fields(remedy=EARLIER_KEY_REMEDY))
            return str(generate_totp_secret())

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Whom passkeys are for, from the settings and never from the Host header."""
        return {"id": urlsplit(settings.ONLOOKER.console_url).hostname or "localhost", "name": "Onlooker"}

    def generate_authenticator_name(self, user: Account, type: str) -> str:
        number = Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1
        return _("Passkey {number}").format(number=number)


def has_second_factor(account: Account) -> bool:
    return bool(get_second_factor_adapter().is_mfa_enabled(account, FACTORS))


def report_wrong_codes(sender: Any, *, request: HttpRequest, user: Account, **kwargs: Any) -> None:
    """Five wrong codes in an hour come from someone who already has the password."""
    key = str(user.pk)
    if take_within_limit(request, "wrong_codes", rates=WRONG_CODES_TOLERATED, key=key):
        return
    if take_within_limit(request, "wrong_codes_told", rates=WARNINGS_LIMIT, key=key):
        get_second_factor_adapter().send_notification_mail("mfa/email/wrong_codes", user)
