"""Dunning: what happens after a failed payment, and the mails about it."""

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.account.models import EmailAddress

from onlooker.console.billing.models import GRACE_PERIOD, Notice, Subscription
from onlooker.console.languages.choice import write_to
from onlooker.console.web.mail import SINGLE_MAIL_ERRORS, send_mail
from onlooker.logs import fields

log = logging.getLogger(__name__)

MAIL_TIMES = (timedelta(0), GRACE_PERIOD - timedelta(days=3), GRACE_PERIOD - timedelta(days=1))
"""When a mail is due, counted from the failed payment."""
MAILS_A_ROUND = 50
ROUND_LIMIT_S = 20.0
"""A slow mail server delays the other chores by this time and one mail at most."""
SHORTEST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=1)
TOO_OLD = timedelta(days=3)
"""A mail that could not be sent for longer is dropped: what it says would be misleading."""


@dataclass(frozen=True)
class DunningState:
    """How far dunning has come for a subscription that is past due."""

    mails_due: int
    ends_at: datetime
    is_over: bool
    next_at: datetime
    """When the next step is due."""


def dunning_state_at(now: datetime, *, since: datetime) -> DunningState:
    mail_times = [since + after for after in MAIL_TIMES]
    ends_at = since + GRACE_PERIOD
    later = [moment for moment in (*mail_times, ends_at) if moment > now]
    return DunningState(
        mails_due=sum(moment <= now for moment in mail_times),
        ends_at=ends_at,
        is_over=now >= ends_at,
        next_at=later[0] if later else now,
    )


def write_notice(row: Subscription, kind: Notice.NoticeKind, *, now: datetime, ends_at: datetime | None = None) -> None:
    """Queue a mail to the account that pays, in the transaction of what it reports."""
    payer, stream = row.customer.account_id, row.stream
    if payer is not None and stream.removed_at is None:
        Notice.objects.create(
            account_id=payer,
            kind=kind,
            client_id=stream.client_id,
            stream_name=stream.name,
            ends_at=ends_at,
            created_at=now,
            try_at=now,
        )


def send_notices(*, now: datetime) -> None:
    """Send the queued mails, longest waiting first. A refused one waits and does not hold up the others."""
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    for notice in list(Notice.objects.filter(try_at__lte=now).order_by("try_at", "id")[:MAILS_A_ROUND]):
        if time.monotonic() > give_up_at:
            return
        try:
            _send(notice, now)
        except SINGLE_MAIL_ERRORS as error:
            _put_off(notice, error, wait=min(SHORTEST_WAIT * 2 ** min(notice.tries, 10), LONGEST_WAIT), now=now)
        except OSError as error:  # the mail server is down: try no other mail in this round
            _put_off(notice, error, wait=timedelta(0), now=now)
            return
        else:
            notice.delete()


def _put_off(notice: Notice, error: OSError, *, wait: timedelta, now: datetime) -> None:
    log.warning("mail put off", extra=fields(kind=notice.kind, error=type(error).__name__))
    notice.tries += wait > timedelta(0)
    notice.try_at = now + wait  # behind all that wait already
    notice.save(update_fields=["tries", "try_at"])


def _send(notice: Notice, now: datetime) -> None:
    address = verified_address(notice.account_id)
    if address and now - notice.created_at < TOO_OLD:
        with write_to(address):
            send_mail(f"billing/mail/{notice.kind}", to=address, context=_context(notice, now))
    else:
        log.warning("mail dropped", extra=fields(kind=notice.kind, account=notice.account_id))


def verified_address(account_id: int) -> str | None:
    addresses = EmailAddress.objects.filter(user_id=account_id, verified=True).order_by("-primary", "id")
    address: str | None = addresses.values_list("email", flat=True).first()
    return address


def _context(notice: Notice, now: datetime) -> dict[str, object]:
    days = round((notice.ends_at - now) / timedelta(days=1)) if notice.ends_at else None
    return {
        "stream_name": notice.stream_name,
        "client_id": notice.client_id,
        "ends_at": notice.ends_at,
        "days": max(days, 1) if days is not None else None,
    }
