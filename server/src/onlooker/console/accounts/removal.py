"""Removing an account with everything that belongs to it."""

from allauth.usersessions.models import UserSession
from django.db import transaction
from django.dispatch import Signal

from onlooker.console.accounts.models import Account
from onlooker.streams.administration import remove_stream
from onlooker.streams.models import Stream

account_going = Signal()
"""Sent in the transaction, before anything is locked: whoever locks rows of an account before it, does so now."""


@transaction.atomic
def remove_account(account: Account) -> int:
    """Its streams, memberships, sessions and second factor go with it; says how many streams."""
    account_going.send(Account, account=account)
    if not Account.objects.select_for_update().filter(pk=account.pk).exists():  # no stream can be made meanwhile
        return 0  # somebody else was faster, such as a second click
    streams = list(Stream.objects.filter(owner=account))
    for stream in streams:
        remove_stream(stream)
    for session in UserSession.objects.filter(user=account):
        session.end()
    account.delete()
    return len(streams)
