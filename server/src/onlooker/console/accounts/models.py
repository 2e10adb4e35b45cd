"""The table of accounts: an e-mail address and a password."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower


class Accounts(BaseUserManager["Account"]):
    """Creates accounts; e-mail addresses are stored in lower case."""

    def create_user(self, email: str, password: str | None = None, **values: Any) -> "Account":
        account = self.model(email=email.strip().lower(), **values)
        account.set_password(password)
        account.save(using=self._db)
        return account

    def create_superuser(self, email: str, password: str | None = None, **values: Any) -> "Account":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **values)


class Account(AbstractBaseUser, PermissionsMixin):
    """A person who signs in with an e-mail address."""

    id = models.BigAutoField(primary_key=True)
    email = models.EmailField(max_length=254, unique=True)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    language = models.CharField(max_length=5, blank=True, default="", db_default="")
    """Of pages and mails, one of `LANGUAGES`; empty for the browser's."""
    created_at = models.DateTimeField(auto_now_add=True)

    reaches_only: int | None = None
    """Set for a session that an organisation's provider began: the organisation's number. See `reach.py`."""
    may_lack_factor = True
    """Whether an organisation may require a second factor that it lacks; known for the account of a session."""
    assumes_second_factor = False

    objects = Accounts()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="one_account_per_email")]

    def __str__(self) -> str:
        return self.email


class SecurityEvent(models.Model):
    """A change of how an account signs in. Rows are written and end with age; none is changed."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="security_events")
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    action = models.TextField()
    detail = models.TextField(blank=True)
    """The name of a passkey or of an organisation."""
    address = models.TextField(blank=True)
    """Where the request came from; empty for the command line."""

    def __str__(self) -> str:
        return f"{self.action} of {self.account_id}"
