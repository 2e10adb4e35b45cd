"""Account forms beyond those of django-allauth."""

from typing import Any

from allauth.account import forms as allauth_forms
from allauth.account.adapter import get_adapter
from django import forms
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.accounts.models import Account


class SignupForm(allauth_forms.SignupForm):  # type: ignore[misc]
    """Takes the same time whether or not the address has an account."""

    account_already_exists: bool

    def validate_unique_email(self, value: str) -> str:
        """An address that someone else wants to change to, and has not verified, is still free."""
        email = value.lower()
        self.account_already_exists = Account.objects.filter(email=email).exists()
        return email

    def try_save(self, request: HttpRequest) -> Any:
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
            return super().try_save(request)
        try:
            with transaction.atomic():
                return super().try_save(request)
        except IntegrityError:  # someone has just signed up with this address
            self.account_already_exists = True
            return super().try_save(request)


class ResetPasswordForm(allauth_forms.ResetPasswordForm):  # type: ignore[misc]
    """Finds accounts by their current address, never by one they have asked to change to."""

    users: list[Account]

    def clean_email(self) -> str:
        email = str(get_adapter().clean_email(self.cleaned_data["email"].lower()))
        self.users = list(Account.objects.filter(email=email, is_active=True))
        return email


class LanguageForm(forms.ModelForm):  # type: ignore[type-arg]
    """In which language the account reads pages and mails; each is named in itself."""

    language = forms.ChoiceField(
        choices=[("", _lazy("As in my browser")), *settings.LANGUAGES],
        required=False,
        widget=forms.Select(attrs={"aria-labelledby": "language"}),
    )

    class Meta:
        model = Account
        fields = ("language",)


class DeletionForm(forms.Form):
    """Asks for the address, to prevent accidental deletion."""

    email = forms.CharField(
        label=_lazy("Enter your e-mail address to confirm"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, account: Account, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._account = account

    def clean_email(self) -> str:
        typed = str(self.cleaned_data["email"]).strip().lower()
        if typed != self._account.email:
            raise forms.ValidationError(_("This is not the e-mail address of this account."))
        return typed
