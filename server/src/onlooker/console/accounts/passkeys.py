"""Passkeys: forms around django-allauth's, which take no malformed answer, and none that another site asked for."""

import struct
from typing import Any
from urllib.parse import SplitResult, urlsplit

from allauth.core import context as current
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.internal.auth import parse_authentication_response, parse_registration_response
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.accounts.security_events import note_event

PASSKEYS_PER_ACCOUNT = 20
LONGEST_NAME = 60
LARGEST_CREDENTIAL = 16 * 1024
"""Characters of what a browser answers; without an attestation it is about a thousand."""
MALFORMED = (
    *(ValidationError, AttributeError, LookupError, TypeError, ValueError, ArithmeticError, struct.error),
    *(AssertionError, NotImplementedError, RecursionError),
)
"""What the libraries raise for a credential that no browser made; the last ones are `fido2`'s for unknown keys."""
NOT_ACCEPTED = _lazy("This passkey was not accepted. Try again, or choose another way to sign in.")
NOT_ADDED = _lazy("This passkey was not added. Try again with a device that asks for a fingerprint, a face or a PIN.")
_PORTS = {"http": 80, "https": 443}


def passkeys_of(account_id: int) -> list[Authenticator]:
    return list(Authenticator.objects.filter(user_id=account_id, type=Authenticator.Type.WEBAUTHN).order_by("pk"))


def require_own_origin(origin: str) -> None:
    """Raises ValueError. The library takes subdomains too, which may be somebody else's."""
    if _place(urlsplit(origin)) != _place(urlsplit(settings.ONLOOKER.console_url)):
        raise ValueError("another origin")


def _place(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or _PORTS.get(url.scheme)


class CredentialField(forms.JSONField):
    """What a browser answers, bounded before it is parsed."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and len(value) > LARGEST_CREDENTIAL:
            raise ValidationError(NOT_ACCEPTED)
        try:
            return super().to_python(value)
        except RecursionError:
            raise ValidationError(NOT_ACCEPTED) from None

    def bound_data(self, data: Any, initial: Any) -> None:
        """An answer counts once, so none is shown again."""

    def prepare_value(self, value: Any) -> str:
        return ""


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """Every key is a passkey: it verifies the person, so it is enough to sign in."""

    name = forms.CharField(
        label=_lazy("Name"),
        required=False,
        max_length=LONGEST_NAME,
        help_text=_lazy("So that you can tell your passkeys apart, such as “Laptop” or “Phone”."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    credential = CredentialField()
    passwordless = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def clean_passwordless(self) -> bool:
        return True

    def clean(self) -> dict[str, Any]:
        if len(passkeys_of(self.user.pk)) >= PASSKEYS_PER_ACCOUNT:
            said = _("An account can have {most} passkeys. Remove one that you no longer use.")
            raise ValidationError(said.format(most=PASSKEYS_PER_ACCOUNT))
        try:
            credential = self.cleaned_data.get("credential")
            if credential:
                require_own_origin(parse_registration_response(credential).response.client_data.origin)
            cleaned: dict[str, Any] = super().clean()
        except MALFORMED:
            raise ValidationError(NOT_ADDED) from None
        return cleaned


class RenamePasskeyForm(EditWebAuthnForm):  # type: ignore[misc]
    """A new name for one of the person's own passkeys."""

    name = forms.CharField(
        label=_lazy("Name"), max_length=LONGEST_NAME, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def save(self) -> Authenticator:
        saved = super().save()
        note_event(current.request, saved.user, "passkey.renamed", self.cleaned_data["name"])
        return saved


class _GuardedAnswer(forms.Form):
    """Goes before allauth's form: an answer that is malformed or meant for another origin is a wrong one."""

    credential = CredentialField()

    def clean_credential(self) -> Any:
        credential = self.cleaned_data["credential"]
        try:
            require_own_origin(parse_authentication_response(credential).response.client_data.origin)
            return super().clean_credential()  # type: ignore[misc]
        except MALFORMED:
            raise ValidationError(NOT_ACCEPTED) from None


class PasskeySignInForm(_GuardedAnswer, LoginWebAuthnForm):  # type: ignore[misc]
    """Signs in with a passkey alone."""


class PasskeySecondFactorForm(_GuardedAnswer, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """After the password, in place of a code."""


class PasskeyConfirmationForm(_GuardedAnswer, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """Before a sensitive change, in place of the password."""
