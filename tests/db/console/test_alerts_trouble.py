"""A mail server that is away, refuses or dies loses no alert, floods nobody and stops no other mail."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from onlooker.console.accounts.models import Account
from onlooker.console.alerts import owner_mails
from onlooker.console.alerts.models import StreamSilence
from onlooker.console.alerts.silence_alerts import send_silence_alerts
from onlooker.streams.administration import create_stream
from onlooker.streams.models import StateChange, Stream, Usage
from testkit import free_ports
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]
START = datetime(2026, 7, 14, 12, 0, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def fall_silent(name: str, owner: Account) -> Stream:
    stream = create_stream(name, owner=owner, kind="developer").stream
    StateChange.objects.update(at=START - timedelta(days=9))
    Usage.objects.create(stream=stream, month=START.date().replace(day=1), last_frame_at=START)
    return stream


@pytest.fixture
def stream(owner: Account) -> Stream:
    return fall_silent("Lobby", owner)


class Picky(Mailbox):
    """Takes no mail for one address."""

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address.startswith("viewer"):
            return "550 No such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"


@pytest.fixture
def picky(settings) -> Iterator[Picky]:
    box = Picky(free_ports(1)[0])
    controller = Controller(box, hostname="127.0.0.1", port=box.port)
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", controller.port, False
    yield box
    controller.stop()


def test_a_mail_that_could_not_go_is_tried_again_and_goes_once(stream: Stream, mailbox: Mailbox, settings) -> None:
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    for minutes in (16, 18, 20):
        with pytest.raises(OSError):
            send_silence_alerts(at(minutes))
    assert StreamSilence.objects.get().told_at is None
    settings.EMAIL_PORT = port
    assert [send_silence_alerts(at(minutes)) for minutes in (22, 23, 24)] == [1, 0, 0]
    assert len(mailbox.mails) == 1


def test_a_round_with_the_server_away_tries_one_mail_only(
    stream: Stream, owner: Account, mailbox: Mailbox, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        fall_silent(f"s{number}", owner)
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    with pytest.raises(OSError):
        send_silence_alerts(at(16))
    assert StreamSilence.objects.filter(try_at__gt=at(16)).count() == 1
    settings.EMAIL_PORT = port
    assert send_silence_alerts(at(16.5)) == 5
    assert send_silence_alerts(at(17.5)) == 1


def test_nothing_is_said_of_a_return_when_nothing_was_said_of_the_silence(
    stream: Stream, mailbox: Mailbox, settings
) -> None:
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    with pytest.raises(OSError):
        send_silence_alerts(at(16))
    Usage.objects.update(last_frame_at=at(17))
    settings.EMAIL_PORT = port
    assert send_silence_alerts(at(18)) == 0
    assert mailbox.mails == []
    assert not StreamSilence.objects.exists()


def test_one_refused_address_does_not_keep_others_from_their_mails(
    stream: Stream, viewer: Account, picky: Picky
) -> None:
    StreamSilence.objects.all().delete()
    fall_silent("Refused", viewer)
    sent = [send_silence_alerts(at(16 + minutes / 2)) for minutes in range(60)]
    assert sum(sent) == 1
    assert [mail["Subject"] for mail in picky.mails] == ["Lobby is silent"]
    assert StreamSilence.objects.get(told_at=None).tries < 8, "it is tried ever more rarely"


def test_a_death_between_the_mail_and_its_note_repeats_it_a_minute_later(
    stream: Stream, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        die = lambda *given, **named: (_ for _ in ()).throw(KeyboardInterrupt)  # noqa: E731
        patch.setattr(owner_mails, "_send_due_mails", die)
        with pytest.raises(KeyboardInterrupt):
            send_silence_alerts(at(16))
    assert send_silence_alerts(at(16.5)) == 0, "somebody else may be sending it"
    assert send_silence_alerts(at(17.1)) == 1


def test_a_round_sends_so_many_mails_and_the_next_goes_on(
    owner: Account, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_mails, "MAILS_AT_ONCE", 3)
    for number in range(5):
        fall_silent(f"s{number}", owner)
    assert [send_silence_alerts(at(minutes)) for minutes in (16, 16.5, 17)] == [3, 2, 0]
    assert len({str(mail["Subject"]) for mail in mailbox.mails}) == 5
