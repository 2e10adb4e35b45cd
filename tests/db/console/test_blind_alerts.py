"""An owner hears once that a camera sees nothing, and once that it sees again."""

from datetime import UTC, datetime, timedelta

import pytest

from onlooker.console.accounts.models import Account
from onlooker.console.alerts.blind_alerts import send_blind_alerts
from onlooker.console.alerts.models import BlindCamera, StreamSilence
from onlooker.console.alerts.silence_alerts import send_silence_alerts
from onlooker.streams.administration import create_stream, remove_stream, set_stream
from onlooker.streams.models import AgentCondition, PictureCondition, StateChange, Stream, Usage
from onlooker_pipeline.service_call import PictureFault
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]
START = datetime(2026, 7, 14, 12, 0, tzinfo=UTC)
BLIND, SEES = "Lobby sees nothing", "Lobby sees again"


@pytest.fixture
def stream(owner: Account) -> Stream:
    """It was made long ago, and frames come."""
    made = create_stream("Lobby", owner=owner, kind="enterprise", time_zone="Europe/Berlin").stream
    StateChange.objects.update(at=START - timedelta(days=9))
    return made


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def judge(stream: Stream, fault: str, *, since: float, now: float, blind_since: float | None = None) -> None:
    """Frames came until `now`, and have shown this since then."""
    begun = since if blind_since is None else blind_since
    row = {"fault": fault, "since_at": at(since), "seen_at": at(now), "blind_since_at": at(begun) if fault else None}
    PictureCondition.objects.update_or_create(stream=stream, defaults=row)


def report(stream: Stream, state: str, *, since: float, now: float) -> None:
    """The agent told it so."""
    row = {"state": state, "since_at": at(since), "received_at": at(now), "over_s": 60.0, "sent": 0, "dropped": {}}
    row["blind_since_at"] = None if state == "seeing" else at(since)
    AgentCondition.objects.update_or_create(stream=stream, defaults=row)


def subjects(mailbox: Mailbox) -> list[str]:
    return [str(mail["Subject"]) for mail in mailbox.mails]


def text_of(mail) -> str:
    return " ".join(mail.get_body(("plain",)).get_content().split())


def test_one_mail_when_it_sees_nothing_and_one_when_it_sees_again(stream: Stream, mailbox: Mailbox) -> None:
    sent = []
    for minute in range(0, 60):
        judge(stream, "covered", since=0, now=minute)
        sent.append(send_blind_alerts(at(minute + 0.1)))
    assert sum(sent) == sent[15] == 1
    (mail,) = mailbox.to("owner@example.org")
    assert mail["Subject"] == BLIND
    assert "has seen nothing for 15 minutes, since 14 July 2026, 14:00 (Europe/Berlin)." in text_of(mail)
    assert "Something covers the lens. Remove it." in text_of(mail)
    assert f"https://console.example.org/streams/{stream.client_id}/settings/" in text_of(mail)

    judge(stream, "", since=60, now=60.5)
    assert send_blind_alerts(at(60.6)) == 0, "a new session sees until its faults have settled"
    judge(stream, "", since=60, now=61.5)
    assert [send_blind_alerts(at(minutes)) for minutes in (61.6, 62, 63)] == [1, 0, 0]
    assert subjects(mailbox) == [BLIND, SEES]
    assert "It saw nothing for 1 hour, from 14 July 2026, 14:00" in text_of(mailbox.mails[1])
    judge(stream, "", since=60, now=130)
    send_blind_alerts(at(130))
    assert not BlindCamera.objects.exists()


@pytest.mark.parametrize("fault", sorted(set(PictureFault) - {PictureFault.MOVED}))
def test_every_fault_is_told_with_its_reason(stream: Stream, mailbox: Mailbox, fault: str) -> None:
    judge(stream, fault, since=0, now=16)
    assert send_blind_alerts(at(16)) == 1
    assert subjects(mailbox) == [BLIND]


def test_one_fault_after_another_is_one_blind_time(stream: Stream, mailbox: Mailbox) -> None:
    judge(stream, "dark", since=14, now=16, blind_since=0)
    assert send_blind_alerts(at(16)) == 1
    judge(stream, "covered", since=30, now=31, blind_since=0)
    assert send_blind_alerts(at(31)) == 0


@pytest.mark.parametrize("state", ["camera_lost", "source_silent"])
def test_a_camera_without_pictures_is_told_of_once_and_not_as_silence(
    stream: Stream, mailbox: Mailbox, state: str
) -> None:
    judge(stream, "", since=-600, now=0)
    Usage.objects.create(stream=stream, month=START.date().replace(day=1), last_frame_at=at(0))
    for minute in range(0, 40):
        report(stream, state, since=0, now=minute)
        send_blind_alerts(at(minute + 0.1))
        send_silence_alerts(at(minute + 0.1))
    assert subjects(mailbox) == [BLIND]
    report(stream, "seeing", since=40, now=40.5)
    judge(stream, "", since=40, now=41.5)
    Usage.objects.update(last_frame_at=at(41))
    send_silence_alerts(at(41.6))
    assert send_blind_alerts(at(41.6)) == 1
    assert subjects(mailbox) == [BLIND, SEES]
    assert not StreamSilence.objects.exists()


def test_a_camera_that_is_back_but_covered_does_not_see_again(stream: Stream, mailbox: Mailbox) -> None:
    report(stream, "camera_lost", since=0, now=16)
    send_blind_alerts(at(16))
    report(stream, "seeing", since=20, now=30)
    judge(stream, "covered", since=20.2, now=30)
    assert send_blind_alerts(at(30)) == 0
    assert subjects(mailbox) == [BLIND]


def test_a_stream_that_stores_nothing_sees_again_when_its_agent_says_so(stream: Stream, mailbox: Mailbox) -> None:
    report(stream, "camera_lost", since=0, now=16)
    send_blind_alerts(at(16))
    report(stream, "seeing", since=20, now=21.5)
    assert send_blind_alerts(at(21.6)) == 1
    assert subjects(mailbox) == [BLIND, SEES]


def test_an_agent_that_dies_without_its_camera_is_silent(stream: Stream, mailbox: Mailbox) -> None:
    Usage.objects.create(stream=stream, month=START.date().replace(day=1), last_frame_at=at(0))
    report(stream, "camera_lost", since=0, now=5)
    for minute in range(6, 40):
        send_blind_alerts(at(minute))
        send_silence_alerts(at(minute))
    assert subjects(mailbox) == ["Lobby is silent"]
    for minute in range(40, 90):  # it is back, still without a camera: its owner knows
        report(stream, "camera_lost", since=0, now=minute)
        send_blind_alerts(at(minute))
    assert subjects(mailbox) == ["Lobby is silent"]


def test_what_is_not_known_now_begins_and_ends_nothing(stream: Stream, mailbox: Mailbox) -> None:
    judge(stream, "covered", since=0, now=10)
    assert send_blind_alerts(at(16)) == 0
    judge(stream, "covered", since=0, now=16)
    assert send_blind_alerts(at(16)) == 1
    assert send_blind_alerts(at(600)) == 0


def test_a_camera_that_comes_and_goes_is_told_of_once_an_hour(stream: Stream, mailbox: Mailbox) -> None:
    for minute in range(0, 121):
        begun = minute // 20 * 20
        if minute % 20 < 17:
            judge(stream, "covered", since=begun, now=minute)
        else:
            judge(stream, "", since=begun + 17, now=minute)
        send_blind_alerts(at(minute + 0.1))
    assert subjects(mailbox) == [BLIND, SEES] * 2


def test_each_stream_has_its_own_patience_and_may_have_none(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    Stream.objects.update(blind_alert_minutes=60)
    never = create_stream("Roof", owner=owner, kind="developer").stream
    Stream.objects.filter(pk=never.pk).update(blind_alert_minutes=0)
    for minutes, sent in ((59, 0), (61, 1)):
        for one in (stream, never):
            judge(one, "black", since=0, now=minutes)
        assert send_blind_alerts(at(minutes)) == sent
    assert subjects(mailbox) == [BLIND]


def test_streams_that_are_off_or_gone_are_not_told_of(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    gone = create_stream("Gone", owner=owner, kind="developer").stream
    for one in (stream, gone):
        judge(one, "black", since=0, now=16)
    set_stream(str(stream.client_id), {"enabled": False}, quota_s=10_800)
    remove_stream(gone)
    assert send_blind_alerts(at(16)) == 0
    assert not BlindCamera.objects.exists()


def test_alerts_that_are_turned_on_late_do_not_tell_of_long_ago(stream: Stream, mailbox: Mailbox) -> None:
    judge(stream, "black", since=0, now=3000)
    assert send_blind_alerts(at(3000)) == 0


def test_over_before_the_owner_was_told_is_told_to_nobody(stream: Stream, mailbox: Mailbox) -> None:
    BlindCamera.objects.create(stream=stream, reason="dark", blind_since=at(0), begun_at=at(16), try_at=at(90))
    judge(stream, "", since=17, now=19)
    assert send_blind_alerts(at(19)) == 0
    assert not BlindCamera.objects.exists()


def test_a_camera_that_is_switched_off_after_closing_time_is_nobodys_trouble(stream: Stream, mailbox: Mailbox) -> None:
    set_stream(str(stream.client_id), {"hours": "mo-fr 09:00-14:00"}, quota_s=10_800)
    for minute in (20, 300, 19 * 60 + 14):  # it closes at noon, and opens 19 hours later
        report(stream, "camera_lost", since=0, now=minute)
        assert send_blind_alerts(at(minute + 0.1)) == 0
    report(stream, "camera_lost", since=0, now=19 * 60 + 16)
    assert send_blind_alerts(at(19 * 60 + 16)) == 1
    assert subjects(mailbox) == [BLIND]
