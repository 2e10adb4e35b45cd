"""Mails of billing, and addresses that the mail server refuses."""

import smtplib
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from console_people import make_account
from onlooker.console.billing import dunning
from onlooker.console.billing.dunning import TOO_OLD, send_notices
from onlooker.console.billing.models import Notice

pytest_plugins = ["pages"]


def write_notice(account, *, at) -> None:
    values = {"client_id": uuid.uuid4(), "stream_name": "Entrance", "ends_at": at + timedelta(days=7)}
    Notice.objects.create(account=account, kind=Notice.NoticeKind.PAYMENT_FAILED, created_at=at, try_at=at, **values)


@pytest.fixture
def tried(monkeypatch) -> list[str]:
    """Whom a mail was tried for; addresses that begin with 'bad' are refused."""
    asked = []

    def send(name, *, to, context) -> None:
        asked.append(to)
        if to.startswith("bad"):
            raise smtplib.SMTPRecipientsRefused({to: (550, b"no such user")})

    monkeypatch.setattr(dunning, "send_mail", send)
    return asked


def test_refused_addresses_do_not_hold_up_the_others(owner, tried):
    now = timezone.now()
    for account in [*(make_account(f"bad{number}@example.org") for number in range(5)), owner]:
        write_notice(account, at=now)
    send_notices(now=now)
    assert tried[-1] == owner.email
    assert Notice.objects.count() == 5


def test_refused_mail_is_tried_less_and_less_often_and_dropped_in_the_end(db, tried):
    now = timezone.now()
    write_notice(make_account("bad@example.org"), at=now)
    waits = []
    for _ in range(8):
        at = Notice.objects.get().try_at
        send_notices(now=at)
        send_notices(now=at)
        waits.append((Notice.objects.get().try_at - at).total_seconds())
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert len(tried) == 8
    send_notices(now=now + TOO_OLD)
    assert not Notice.objects.exists()


def test_mail_that_breaks_the_connection_lets_others_go_first_next_time(owner, stranger, monkeypatch):
    now = timezone.now()
    for account in (owner, stranger):
        write_notice(account, at=now)
    sent = []

    def send(name, *, to, context) -> None:
        if to == owner.email:
            raise smtplib.SMTPServerDisconnected
        sent.append(to)

    monkeypatch.setattr(dunning, "send_mail", send)
    send_notices(now=now + timedelta(seconds=10))
    assert sent == []
    send_notices(now=now + timedelta(seconds=20))
    assert sent == [stranger.email]
    assert Notice.objects.get().account == owner
