"""What `onlooker account` does: accounts for those who host the product."""

import sys

import click
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.removal import remove_account
from onlooker.console.streams.owners import log_states


def create_account(email: str, *, is_staff: bool) -> str:
    """Make one that can sign in at once, or give a password to one that has none; says which."""
    email = _clean_email(email)
    account = Account.objects.filter(email=email).first()
    if account and account.has_usable_password():
        raise click.ClickException(
            f"There is an account {email} already. `onlooker account password {email}` sets its password."
        )
    _set_password(account or Account(email=email), is_staff=is_staff)
    done = "had no password and has one now" if account else "is made"
    return f"The account {email} {done}{' and belongs to staff' if is_staff else ''}."


def set_account(email: str, changes: dict[str, bool]) -> str:
    """Let somebody into the staff's pages, or nobody into the account; then its sessions end and its streams stop."""
    account = _find_account(email)
    for name, value in changes.items():
        setattr(account, name, value)
        if name == "is_staff":
            account.is_superuser = value
    with transaction.atomic():
        account.save(update_fields=[*changes, "is_superuser"])
        log_states(account)
    return f"The account {account.email}: " + ", ".join(f"{name} = {value}" for name, value in changes.items()) + "."


def change_password(email: str, *, removes_second_factor: bool) -> str:
    account = _find_account(email)
    _set_password(account, is_staff=False)
    if removes_second_factor:
        Authenticator.objects.filter(user=account).delete()
    return f"The password of {account.email} is set; all its sessions have ended."


def list_accounts() -> list[str]:
    verified = set(EmailAddress.objects.filter(verified=True).values_list("user_id", flat=True))
    lines = [f"{'number':>6}  {'made':10}  {'state':10}  {'staff':5}  e-mail"]
    for one in Account.objects.order_by("id").iterator():
        state = "disabled" if not one.is_active else "verified" if one.pk in verified else "unverified"
        lines.append(
            f"{one.pk:6}  {one.created_at:%Y-%m-%d}  {state:10}  {'yes' if one.is_staff else 'no':5}  {one.email}"
        )
    return lines


def delete_account(email: str) -> str:
    account = _find_account(email)
    streams = remove_account(account)
    return f"The account {account.email} is deleted, with {streams} stream{'' if streams == 1 else 's'}."


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
        raise click.ClickException(f"There is no account {email}. `onlooker account list` shows all.")
    return account


def _set_password(account: Account, *, is_staff: bool) -> None:
    """Who types here may also read the mailbox of anybody: the address counts as verified."""
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
