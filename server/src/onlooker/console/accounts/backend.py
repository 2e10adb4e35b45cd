"""The password check: one account at most, and the same work whether there is one or not. And sessions' accounts."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.base_user import AbstractBaseUser

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.reach import lacks_required_factor


class AccountBackend(AuthenticationBackend):  # type: ignore[misc]
    """Uses an account's current address only, not one it has asked to change to. Sessions store this class's path."""

    def _authenticate_by_email(self, email: str, password: str) -> AbstractBaseUser | None:
        account = Account.objects.filter(email=email.lower()).first()
        checked: AbstractBaseUser | None = self._check_password(account, password)
        return checked

    def get_user(self, user_id: Any) -> Account | None:
        """With what most pages ask next, in the same statement."""
        account = Account.objects.annotate(lacks_factor=lacks_required_factor()).filter(pk=user_id).first()
        if account is None or not self.user_can_authenticate(account):
            return None
        account.may_lack_factor = bool(account.lacks_factor)
        return account
