"""Chores: deleting counts of tries and sessions that have expired, and accounts whose address nobody confirmed."""

from datetime import datetime, timedelta

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection
from django.db.models import Exists, OuterRef
from django.utils import timezone

from onlooker.console.accounts.models import Account

UNCONFIRMED_KEPT = timedelta(days=7)
AT_ONCE = 1000


def remove_dead_counts() -> int:
    """Django's cache only does so when it is full; the table has an index on when a row expires."""
    table = connection.ops.quote_name(str(settings.CACHES["default"]["LOCATION"]))
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE expires < %s", [timezone.now()])  # noqa: S608 - the name is our own
        return int(cursor.rowcount)


def remove_unconfirmed_accounts(now: datetime | None = None) -> int:
    """Somebody signed up with them, perhaps with another's address, and never got in."""
    limit = (now or timezone.now()) - UNCONFIRMED_KEPT
    signed_up = Account.objects.filter(emailaddress__isnull=False, created_at__lt=limit, last_login=None)
    signed_up = signed_up.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)  # others made those for them
    unused = signed_up.exclude(emailaddress__verified=True).filter(streams=None, memberships=None, is_staff=False)
    return Account.objects.filter(pk__in=unused.values("pk")[:AT_ONCE]).delete()[1].get("accounts.Account", 0)


def remove_dead_sessions(now: datetime | None = None) -> int:
    """Django's own, and allauth's list of them, which Django does not know of."""
    call_command("clearsessions")
    alive = Session.objects.filter(session_key=OuterRef("session_key"))
    young = (now or timezone.now()) - timedelta(hours=1)  # its session may be about to be written
    dead = UserSession.objects.filter(~Exists(alive), created_at__lt=young).values("pk")[:AT_ONCE]
    return int(UserSession.objects.filter(pk__in=dead).delete()[0])
