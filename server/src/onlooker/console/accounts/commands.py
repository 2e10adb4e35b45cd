"""`onlooker account`: manages accounts on the command line."""

import sys

import click
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from onlooker.audit.actor import acting_as, command_actor
from onlooker.console.accounts.deletion import erase_account
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.security_events import note_event
from onlooker.console.streams.lifecycle import log_stream_states


def create_account(email: str, *, is_staff: bool) -> str:
    """Create one that can sign in at once, or set the password of one that has none."""
    email = _clean_email(email)
    account = Account.objects.filter(email=email).first()
    if account and account.has_usable_password():
        raise click.ClickException(
            f"The account {email} already exists. `onlooker account password {email}` sets its password."
        )
    _set_password(account or Account(email=email), is_staff=is_staff)
    if account:
        return f"Password set for the staff account {email}." if is_staff else f"Password set for the account {email}."
    return f"Staff account {email} created." if is_staff else f"Account {email} created."


def set_account(email: str, changes: dict[str, bool]) -> str:
    """Change staff rights, or enable or disable it; disabling ends its sessions and stops its streams."""
    account = _find_account(email)
    for name, value in changes.items():
        setattr(account, name, value)
        if name == "is_staff":
            account.is_superuser = value
    with acting_as(command_actor()):
        account.save(update_fields=[*changes, "is_superuser"])
        log_stream_states(account)
    return f"Account {account.email}: " + ", ".join(f"{name} = {value}" for name, value in changes.items()) + "."


def change_password(email: str, *, removes_second_factor: bool) -> str:
    account = _find_account(email)
    _set_password(account, is_staff=False)
    if removes_second_factor:
        Authenticator.objects.filter(user=account).delete()
        note_event(None, account, "second_factor.removed_by_operator")
    return f"Password set for {account.email}. All its sessions have ended."


def list_accounts() -> list[str]:
    verified = set(EmailAddress.objects.filter(verified=True).values_list("user_id", flat=True))
    lines = [f"{'number':>6}  {'created':10}  {'state':10}  {'staff':5}  e-mail"]
    for one in Account.objects.order_by("id").iterator():
        state = "disabled" if not one.is_active else "verified" if one.pk in verified else "unverified"
        lines.append(
            f"{one.pk:6}  {one.created_at:%Y-%m-%d}  {state:10}  {'yes' if one.is_staff else 'no':5}  {one.email}"
        )
    return lines


def delete_account(email: str) -> str:
    account = _find_account(email)
    with acting_as(command_actor()):
        streams = erase_account(account)
    if streams == 1:
        return f"Account {account.email} deleted, with 1 stream."
    return f"Account {account.email} deleted, with {streams} streams."


def _clean_email(email: str) -> str:
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError:
        raise click.ClickException(f"{email!r} is not an e-mail address.") from None
    return email


def _find_account(email: str) -> Account:
    account = Account.objects.filter(email=email.strip().lower()).first()
    if account is None:
        raise click.ClickException(f"There is no account {email}. `onlooker account list` lists all accounts.")
    return account


def _set_password(account: Account, *, is_staff: bool) -> None:
    """The operator is trusted, so the address counts as verified."""
    password = _read_password()
    try:
        validate_password(password, account)
    except ValidationError as error:
        raise click.ClickException(" ".join(error.messages)) from None
    account.set_password(password)
    if is_staff:
        account.is_staff = account.is_superuser = True
    with transaction.atomic():
        account.save()
        EmailAddress.objects.update_or_create(
            user=account, email=account.email, defaults={"verified": True, "primary": True}
        )


def _read_password() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("Password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\r\n")
