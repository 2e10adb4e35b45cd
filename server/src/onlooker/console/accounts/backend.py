"""The password check: one account at most, and the same work whether there is one or not."""

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.base_user import AbstractBaseUser

from onlooker.console.accounts.models import Account


class AccountBackend(AuthenticationBackend):  # type: ignore[misc]
    """Uses an account's current address only, not one it has asked to change to. Sessions store this class's path."""

    def _authenticate_by_email(self, email: str, password: str) -> AbstractBaseUser | None:
        account = Account.objects.filter(email=email.lower()).first()
        checked: AbstractBaseUser | None = self._check_password(account, password)
        return checked
