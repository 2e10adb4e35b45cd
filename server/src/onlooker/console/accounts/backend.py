"""Checking a password: one account at most, and the same work whether there is one or not."""

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.base_user import AbstractBaseUser

from onlooker.console.accounts.models import Account


class AccountBackend(AuthenticationBackend):  # type: ignore[misc]
    """Looks at an account's own address only; one it merely asked to change to does not sign in."""

    def _authenticate_by_email(self, email: str, password: str) -> AbstractBaseUser | None:
        account = Account.objects.filter(email=email.lower()).first()
        checked: AbstractBaseUser | None = self._check_password(account, password)
        return checked
