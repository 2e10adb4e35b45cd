"""Sends the mails that were written."""

import logging
import time
from datetime import datetime, timedelta

from allauth.account.models import EmailAddress

from onlooker.console.billing.models import Notice
from onlooker.console.mail import OF_ONE_MAIL, send_mail
from onlooker.logs import fields

log = logging.getLogger(__name__)

MAILS_A_ROUND = 50
ROUND_LIMIT_S = 20.0
"""A slow mail server keeps the other chores waiting no longer than this, and one mail."""
SHORTEST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=1)
TOO_OLD = timedelta(days=3)
"""A mail that could not be sent for longer: what it says would mislead by then."""


def send_notices(*, now: datetime) -> None:
    """The longest waiting first; one that is refused waits, and does not hold up the others."""
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    for notice in list(Notice.objects.filter(try_at__lte=now).order_by("try_at", "id")[:MAILS_A_ROUND]):
        if time.monotonic() > give_up_at:
            return
        try:
            _send(notice, now)
        except OF_ONE_MAIL as error:
            _put_off(notice, error, wait=min(SHORTEST_WAIT * 2 ** min(notice.tries, 10), LONGEST_WAIT), now=now)
        except OSError as error:  # the mail server is away: no other mail is tried in this round
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
