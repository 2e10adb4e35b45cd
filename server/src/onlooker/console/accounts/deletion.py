"""Deletes accounts, and organisations that end with them; chores for old sessions, counts, unconfirmed accounts."""

from datetime import datetime, timedelta

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.dispatch import Signal
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.streams.models import MemberRole, Organisation
from onlooker.streams.organisations import organisations_without, remove_organisation

account_deletion_started = Signal()
"""Sent in the transaction before anything is locked; receivers lock rows that have to be locked first."""


@transaction.atomic
def erase_account(account: Account) -> int:
    """With its memberships, sessions and second factor, and the organisations of which it is the only owner.

    Returns how many streams went with them.
    """
    account_deletion_started.send(Account, account=account)
    if not Account.objects.select_for_update().filter(pk=account.pk).exists():  # no stream can be created meanwhile
        return 0  # already deleted, for example by a second click
    owned = Organisation.objects.filter(memberships__account=account, memberships__role=MemberRole.OWNER)
    list(owned.order_by("id").select_for_update(no_key=True))  # two owners who go at once do not both leave the other
    streams = sum(remove_organisation(organisation) for organisation in organisations_without(account))
    for session in UserSession.objects.filter(user=account):
        session.end()
    account.delete()
    return streams


UNCONFIRMED_KEPT = timedelta(days=7)
AT_ONCE = 1000


def delete_expired_counts() -> int:
    """Of rate limits. Django's cache deletes them only when it is full; the table has an index on the expiry."""
    table = connection.ops.quote_name(str(settings.CACHES["default"]["LOCATION"]))
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE expires < %s", [timezone.now()])  # noqa: S608 - the name is our own
        return int(cursor.rowcount)


def delete_unconfirmed_accounts(now: datetime | None = None) -> int:
    """Sign-ups, perhaps with someone else's address, that were never completed."""
    limit = (now or timezone.now()) - UNCONFIRMED_KEPT
    signed_up = Account.objects.filter(emailaddress__isnull=False, created_at__lt=limit, last_login=None)
    signed_up = signed_up.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)  # created for them by staff
    unused = signed_up.exclude(emailaddress__verified=True).filter(memberships=None, is_staff=False)
    return Account.objects.filter(pk__in=unused.values("pk")[:AT_ONCE]).delete()[1].get("accounts.Account", 0)


def delete_expired_sessions(now: datetime | None = None) -> int:
    """Django's own, and allauth's list of them, which Django does not clear."""
    call_command("clearsessions")
    alive = Session.objects.filter(session_key=OuterRef("session_key"))
    young = (now or timezone.now()) - timedelta(hours=1)  # its session may not be written yet
    dead = UserSession.objects.filter(~Exists(alive), created_at__lt=young).values("pk")[:AT_ONCE]
    return int(UserSession.objects.filter(pk__in=dead).delete()[0])
