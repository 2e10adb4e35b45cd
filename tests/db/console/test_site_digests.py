"""What happens to several streams at one site within minutes is one mail, and an event of a webhook for each."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from onlooker.console.accounts.models import Account
from onlooker.console.alerts.blind_alerts import send_blind_alerts
from onlooker.console.alerts.models import StreamSilence
from onlooker.console.alerts.silence_alerts import send_silence_alerts
from onlooker.console.webhooks.endpoints import create_endpoint
from onlooker.streams.administration import create_stream
from onlooker.streams.models import PictureCondition, Site, StateChange, Stream, Usage
from onlooker.streams.organisations import organisation_of
from onlooker.webhooks.models import Delivery
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]
START = datetime(2026, 7, 14, 12, 0, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def see(*streams: Stream, minutes: float) -> None:
    """Frames came."""
    month = at(minutes).date().replace(day=1)
    for stream in streams:
        Usage.objects.update_or_create(stream=stream, month=month, defaults={"last_frame_at": at(minutes)})


@pytest.fixture
def shop(owner: Account) -> list[Stream]:
    """Four streams at a site, whose last frames came at noon."""
    site = Site.objects.create(organisation=organisation_of(owner), name="Lyon")
    made = [create_stream(f"Lyon {number}", owner=owner, kind="developer").stream for number in range(1, 5)]
    Stream.objects.update(site=site)
    StateChange.objects.update(at=START - timedelta(days=9))
    see(*made, minutes=0)
    return made


def subjects(mailbox: Mailbox) -> list[str]:
    return [str(mail["Subject"]) for mail in mailbox.mails]


def text_of(mail: Any) -> str:
    return " ".join(mail.get_body(("plain",)).get_content().split())


def events() -> list[tuple[str, str]]:
    rows = Delivery.objects.order_by("pk").values_list("event", "body")
    return [(event, json.loads(body)["data"]["stream_name"]) for event, body in rows]


def test_a_power_cut_is_one_mail_and_so_is_its_end(shop: list[Stream], mailbox: Mailbox) -> None:
    see(shop[3], minutes=1)  # the last one stopped a minute later
    assert send_silence_alerts(at(15.5)) == 0
    assert send_silence_alerts(at(16.5)) == 0, "others of the site may follow"
    assert send_silence_alerts(at(18.6)) == 1
    assert [send_silence_alerts(at(minute)) for minute in (20, 30)] == [0, 0]
    (mail,) = mailbox.to("owner@example.org")
    assert mail["Subject"] == "Lyon: 4 streams silent"
    text = text_of(mail)
    for stream in shop:
        assert f"- {stream.name}: the last frame arrived on 14 July 2026, 12:0" in text
        assert f"https://console.example.org/streams/{stream.client_id}/" in text
    see(*shop, minutes=60)
    assert send_silence_alerts(at(60.5)) == 0
    assert send_silence_alerts(at(64)) == 1
    assert subjects(mailbox) == ["Lyon: 4 streams silent", "Lyon: 4 streams back"]
    assert StreamSilence.objects.filter(back_told_at=None).count() == 0


def test_what_is_over_and_what_began_are_in_one_mail(shop: list[Stream], mailbox: Mailbox) -> None:
    see(shop[3], minutes=45)
    send_silence_alerts(at(20))
    send_silence_alerts(at(23.1))
    see(*shop[:2], minutes=61)
    assert send_silence_alerts(at(61)) == 0
    assert send_silence_alerts(at(64.1)) == 1
    assert subjects(mailbox) == ["Lyon: 3 streams silent", "Lyon: 1 stream silent, 2 streams back"]


def test_one_stream_of_a_site_has_its_usual_mail(shop: list[Stream], mailbox: Mailbox) -> None:
    see(*shop[1:], minutes=60)
    send_silence_alerts(at(16))
    assert send_silence_alerts(at(19.1)) == 1
    assert subjects(mailbox) == ["Lyon 1 is silent"]


def test_a_stream_that_is_alone_at_its_site_does_not_wait(shop: list[Stream], mailbox: Mailbox) -> None:
    Stream.objects.filter(pk__in=[one.pk for one in shop[1:]]).update(silence_alert_minutes=0, site=None)
    assert send_silence_alerts(at(15.5)) == 1
    assert subjects(mailbox) == ["Lyon 1 is silent"]


def test_a_long_list_is_cut(shop: list[Stream], mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlooker.console.alerts.owner_mails.DIGEST_LISTED", 3)
    send_silence_alerts(at(16))
    send_silence_alerts(at(20))
    assert "- and 1 more" in text_of(mailbox.mails[0])


def test_blind_cameras_of_a_site_are_one_mail(shop: list[Stream], mailbox: Mailbox) -> None:
    blind = {"fault": "dark", "since_at": at(0), "blind_since_at": at(0), "seen_at": at(60)}
    for stream in shop[:3]:
        PictureCondition.objects.create(stream=stream, **blind)
    Stream.objects.update(blind_alert_minutes=15)
    assert send_blind_alerts(at(60)) == 0
    PictureCondition.objects.update(seen_at=at(63))
    assert send_blind_alerts(at(63.1)) == 1
    assert subjects(mailbox) == ["Lyon: 3 cameras see nothing"]
    PictureCondition.objects.update(fault="", since_at=at(64), blind_since_at=None, seen_at=at(66))
    send_blind_alerts(at(66))
    PictureCondition.objects.update(seen_at=at(70))
    send_blind_alerts(at(70))
    assert subjects(mailbox)[1:] == ["Lyon: 3 see again"]


def test_webhooks_are_told_of_each_stream_at_once_also_without_mail(shop: list[Stream], settings: Any) -> None:
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, email_url="")
    assert send_silence_alerts(at(15.5)) == 0
    assert not StreamSilence.objects.exists(), "nobody is there to be told"
    organisation = shop[0].organisation
    assert organisation
    create_endpoint(organisation, "https://hooks.example.org/")
    send_silence_alerts(at(16))
    send_silence_alerts(at(17))
    assert events() == [("stream.silent", stream.name) for stream in shop]
    said = json.loads(Delivery.objects.earliest("pk").body)["data"]
    site = shop[0].site_id or Site.objects.get().pk
    assert (said["stream"], said["site"], said["site_name"]) == (str(shop[0].client_id), site, "Lyon")
    assert (said["reason"], said["since"], said["back_at"]) == ("silent", START.isoformat(), None)
    see(shop[0], minutes=20)
    send_silence_alerts(at(20.5))
    assert events()[4:] == [("stream.back", "Lyon 1")]
