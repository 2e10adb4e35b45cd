"""An owner hears once that a live stream went silent, and once that it is back."""

from datetime import UTC, datetime, timedelta

import pytest
from allauth.account.models import EmailAddress

from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.alerts.models import StreamSilence
from onlooker.console.alerts.owner_mails import format_duration, local_time
from onlooker.console.alerts.silence_alerts import send_silence_alerts
from onlooker.streams.administration import create_stream, remove_stream, set_stream
from onlooker.streams.models import StateChange, Stream, Usage
from onlooker.streams.state import State
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]
START = datetime(2026, 7, 14, 12, 0, tzinfo=UTC)


@pytest.fixture
def stream(owner: Account) -> Stream:
    """It was made long ago, and its last frame came at noon."""
    made = create_stream("Lobby", owner=owner, kind="developer", time_zone="Europe/Berlin").stream
    StateChange.objects.update(at=START - timedelta(days=9))
    see(made, minutes=0)
    return made


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def see(stream: Stream, *, minutes: float) -> None:
    """A frame came."""
    month = at(minutes).date().replace(day=1)
    Usage.objects.update_or_create(stream=stream, month=month, defaults={"last_frame_at": at(minutes)})


def subjects(mailbox: Mailbox) -> list[str]:
    return [str(mail["Subject"]) for mail in mailbox.mails]


def text_of(mail) -> str:
    return " ".join(mail.get_body(("plain",)).get_content().split())


def test_one_mail_when_it_is_silent_and_one_when_it_is_back(stream: Stream, mailbox: Mailbox) -> None:
    assert send_silence_alerts(at(14.9)) == 0
    assert send_silence_alerts(at(15.1)) == 1
    for minutes in (16, 30, 600):
        assert send_silence_alerts(at(minutes)) == 0
    (mail,) = mailbox.to("owner@example.org")
    assert mail["Subject"] == "Lobby is silent"
    assert "The last one arrived 15 minutes ago, on 14 July 2026, 14:00 (Europe/Berlin)." in text_of(mail)
    assert f"https://console.example.org/streams/{stream.client_id}/" in text_of(mail)

    see(stream, minutes=700)
    assert send_silence_alerts(at(700.5)) == 1
    assert send_silence_alerts(at(701)) == 0
    assert subjects(mailbox) == ["Lobby is silent", "Lobby is back"]
    assert "It was silent for 11 hours 40 minutes, from 14 July 2026, 14:00" in text_of(mailbox.mails[1])
    assert not StreamSilence.objects.exists()


def test_each_person_is_told_in_their_language(
    stream: Stream, owner: Account, viewer: Account, stranger: Account, mailbox: Mailbox
) -> None:
    for account, language in ((viewer, "de"), (stranger, "es")):
        share_stream(stream, account, "manager")
        Account.objects.filter(pk=account.pk).update(language=language)
    assert send_silence_alerts(at(16)) == 1
    for account, when in (
        (owner, "14 July 2026, 14:00"),
        (viewer, "14. Juli 2026, 14:00"),
        (stranger, "14 de julio de 2026, 14:00"),
    ):
        (mail,) = mailbox.to(account.email)
        assert f"{when} (Europe/Berlin)" in text_of(mail)


def test_a_stream_that_comes_and_goes_is_told_of_once_an_hour(stream: Stream, mailbox: Mailbox) -> None:
    for minute in range(0, 121):
        if minute % 20 == 0:  # a frame every 20 minutes, and an owner who wants to know after 15
            see(stream, minutes=minute)
        send_silence_alerts(at(minute + 0.5))
    assert subjects(mailbox) == ["Lobby is silent", "Lobby is back"] * 2


def test_each_stream_has_its_own_patience_and_may_have_none(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    Stream.objects.update(silence_alert_minutes=60)
    deaf = create_stream("Roof", owner=owner, kind="developer").stream
    Stream.objects.filter(pk=deaf.pk).update(silence_alert_minutes=0)
    StateChange.objects.update(at=START - timedelta(days=9))
    see(deaf, minutes=0)
    assert send_silence_alerts(at(59)) == 0
    assert send_silence_alerts(at(61)) == 1
    assert subjects(mailbox) == ["Lobby is silent"]


def test_streams_that_were_never_live_are_off_or_are_gone_are_not_told_of(owner: Account, mailbox: Mailbox) -> None:
    never, disabled, removed = (
        create_stream(name, owner=owner, kind="developer").stream for name in ("never", "off", "gone")
    )
    StateChange.objects.update(at=START - timedelta(days=9))
    Usage.objects.create(stream=never, month=START.date().replace(day=1))
    for one in (disabled, removed):
        see(one, minutes=0)
    set_stream(str(disabled.client_id), {"enabled": False}, quota_s=10_800)
    remove_stream(removed)
    assert send_silence_alerts(at(60)) == 0
    assert not StreamSilence.objects.exists()


def test_silence_counts_from_when_a_stream_was_switched_on(stream: Stream, mailbox: Mailbox) -> None:
    StateChange.objects.create(stream=stream, state=State.DISABLED, at=at(1))
    StateChange.objects.create(stream=stream, state=State.ENABLED, at=at(120))
    assert send_silence_alerts(at(121)) == 0
    assert send_silence_alerts(at(136)) == 1


def test_switching_a_silent_stream_off_ends_its_silence_without_a_mail(stream: Stream, mailbox: Mailbox) -> None:
    send_silence_alerts(at(16))
    set_stream(str(stream.client_id), {"enabled": False}, quota_s=10_800)
    see(stream, minutes=17)
    assert send_silence_alerts(at(18)) == 0
    assert not StreamSilence.objects.exists()
    assert subjects(mailbox) == ["Lobby is silent"]


def test_a_stream_whose_month_is_used_up_is_told_so(stream: Stream, mailbox: Mailbox) -> None:
    StateChange.objects.create(stream=stream, state=State.QUOTA, at=at(0))
    assert send_silence_alerts(at(16)) == 1
    assert subjects(mailbox) == ["Lobby has used up its monthly quota"]
    assert "New frames are refused." in text_of(mailbox.mails[0])


def test_a_month_that_was_used_up_is_no_excuse_in_the_next_one(stream: Stream, mailbox: Mailbox) -> None:
    days = (datetime(2026, 8, 1, tzinfo=UTC) - START) / timedelta(minutes=1)
    see(stream, minutes=days - 10)
    StateChange.objects.create(stream=stream, state=State.QUOTA, at=at(days - 9))
    assert send_silence_alerts(at(days + 10)) == 0
    assert send_silence_alerts(at(days + 16)) == 1
    assert subjects(mailbox) == ["Lobby is silent"]


def test_a_camera_that_dies_while_its_month_is_used_up_is_told_of_in_the_next_one(
    stream: Stream, mailbox: Mailbox
) -> None:
    august = (datetime(2026, 8, 1, tzinfo=UTC) - START) / timedelta(minutes=1)
    StateChange.objects.create(stream=stream, state=State.QUOTA, at=at(0))
    for minutes in (16, 600, august - 1, august + 1, august + 14):
        send_silence_alerts(at(minutes))
    assert subjects(mailbox) == ["Lobby has used up its monthly quota"]
    for minutes in (august + 16, august + 17, august + 3000):
        send_silence_alerts(at(minutes))
    assert subjects(mailbox) == ["Lobby has used up its monthly quota", "Lobby is silent"]


def test_a_camera_that_goes_on_in_the_new_month_is_back(stream: Stream, mailbox: Mailbox) -> None:
    august = (datetime(2026, 8, 1, tzinfo=UTC) - START) / timedelta(minutes=1)
    StateChange.objects.create(stream=stream, state=State.QUOTA, at=at(0))
    send_silence_alerts(at(16))
    send_silence_alerts(at(august + 0.5))
    see(stream, minutes=august + 1)
    send_silence_alerts(at(august + 1.5))
    assert subjects(mailbox) == ["Lobby has used up its monthly quota", "Lobby is back"]


def test_a_stream_of_a_disabled_account_is_not_missed(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    Account.objects.update(is_active=False)
    send_silence_alerts(at(16))
    assert not StreamSilence.objects.exists()


def test_what_fell_silent_long_ago_is_no_news(stream: Stream, mailbox: Mailbox) -> None:
    assert send_silence_alerts(at(15 + 24 * 60 + 1)) == 0
    assert not StreamSilence.objects.exists()


def test_a_new_month_s_first_frame_counts(stream: Stream, mailbox: Mailbox) -> None:
    days = (datetime(2026, 8, 1, tzinfo=UTC) - START) / timedelta(minutes=1)
    see(stream, minutes=days - 1)
    see(stream, minutes=days + 5)
    assert send_silence_alerts(at(days + 16)) == 0
    assert send_silence_alerts(at(days + 21)) == 1


def test_only_a_verified_address_of_somebody_who_can_sign_in_gets_mails(
    stream: Stream, owner: Account, mailbox: Mailbox
) -> None:
    EmailAddress.objects.filter(user=owner).update(verified=False)
    assert send_silence_alerts(at(16)) == 0
    EmailAddress.objects.filter(user=owner).update(verified=True)
    Account.objects.update(is_active=False)
    assert send_silence_alerts(at(17)) == 0
    Account.objects.update(is_active=True)
    assert send_silence_alerts(at(18)) == 1


def test_times_are_told_in_words() -> None:
    assert format_duration(timedelta(seconds=20)) == "1 minute"
    assert format_duration(timedelta(hours=1, minutes=1)) == "1 hour 1 minute"
    assert format_duration(timedelta(days=2, hours=3, minutes=4)) == "2 days 3 hours"
    assert local_time(START, "Asia/Tokyo") == "14 July 2026, 21:00 (Asia/Tokyo)"
    assert local_time(START, "Nowhere/Land") == "14 July 2026, 12:00 (UTC)"


def test_a_closed_stream_is_not_missed_and_the_wait_begins_with_each_opening(stream: Stream, mailbox: Mailbox) -> None:
    set_stream(str(stream.client_id), {"hours": "mo-fr 09:00-14:15"}, quota_s=10_800)
    for minutes in (15.1, 600, 18 * 60 + 59, 19 * 60 + 14.9):  # it opens at 07:00 UTC, 19 hours after noon
        assert send_silence_alerts(at(minutes)) == 0
    assert send_silence_alerts(at(19 * 60 + 15.1)) == 1
    (mail,) = mailbox.mails
    assert "The last one arrived 19 hours 15 minutes ago" in text_of(mail)
    assert "Its opening hours are mo-fr 09:00-14:15." in text_of(mail)


def test_a_stream_that_is_open_is_missed_as_ever(stream: Stream, mailbox: Mailbox) -> None:
    set_stream(str(stream.client_id), {"hours": "mo-fr 09:00-18:00"}, quota_s=10_800)
    assert send_silence_alerts(at(14.9)) == 0
    assert send_silence_alerts(at(15.1)) == 1
