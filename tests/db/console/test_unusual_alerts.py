"""Owners hear, at most once a day, that far fewer or far more people came than usual."""

import json
import random
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection

from onlooker.console.accounts.models import Account
from onlooker.console.alerts import unusual_alerts
from onlooker.console.alerts.models import JudgedHour, UnusualDay
from onlooker.console.alerts.unusual_alerts import judge_streams, send_unusual_alerts
from onlooker.console.webhooks.endpoints import create_endpoint
from onlooker.metrics.definitions import ALL_FIGURES
from onlooker.streams.administration import create_stream, set_stream
from onlooker.streams.models import Coverage, Site, Stream
from onlooker.streams.notes import create_note
from onlooker.streams.organisations import organisation_of
from onlooker.webhooks.models import Delivery
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]
BERLIN = ZoneInfo("Europe/Berlin")
DAY = date(2026, 7, 15)
"""A Wednesday."""
OPEN = range(9, 18)
SLOT = timedelta(minutes=15)
FIGURES = dict.fromkeys(("still_us", "looking_us", "balance", *ALL_FIGURES))


@pytest.fixture
def stream(owner: Account) -> Stream:
    """Eight weeks of about 80 people an hour, a quarter of them interested."""
    return make_stream(owner, "Lobby")


def make_stream(owner: Account, name: str, *, weeks: int = 8) -> Stream:
    made = create_stream(
        name, owner=owner, kind="enterprise", time_zone="Europe/Berlin", hours="mo-su 09:00-18:00"
    ).stream
    set_stream(str(made.client_id), {"unusual_alert": True}, quota_s=0.0)
    record(made, *(DAY - timedelta(days=number) for number in range(1, 7 * weeks + 1)))
    return Stream.objects.get(pk=made.pk)


def record(stream: Stream, *days: date, people: int = 20, watched_s: float = 900) -> None:
    """So many people a quarter of an hour, more or less."""
    draw = random.Random(f"{stream.pk} {days[0]}")
    slots = [
        datetime(day.year, day.month, day.day, hour, tzinfo=BERLIN).astimezone(UTC) + number * SLOT
        for day in days
        for hour in OPEN
        for number in range(4)
    ]
    Coverage.objects.bulk_create(Coverage(stream=stream, slot_at=slot, video_s=watched_s) for slot in slots)
    counted = [max(people + draw.randint(-4, 4), 0) if people else 0 for _ in slots]
    zeros = [name for name in FIGURES if name not in ("passing_by", "interested", "told")]
    sql = f"""INSERT INTO metrics_slot (stream_id, slot_at, reaches_at, passing_by, interested, told,
                                        {", ".join(zeros)})
              SELECT %s, slot_at, slot_at + interval '1 minute', counted, counted / 4, counted / 4,
                     {", ".join("0" for _ in zeros)}
              FROM unnest(%s::timestamptz[], %s::integer[]) AS made (slot_at, counted)"""
    with connection.cursor() as cursor:
        cursor.execute(sql, [stream.pk, slots, counted])


def at(hour: float, day: date = DAY) -> datetime:
    """On the stream's clock."""
    return datetime(day.year, day.month, day.day, tzinfo=BERLIN).astimezone(UTC) + timedelta(hours=hour)


def walk(first: float, last: float, day: date = DAY) -> list[int]:
    """How many mails each quarter of an hour sends."""
    steps = range(int(first * 4), int(last * 4) + 1)
    return [send_unusual_alerts(at(step / 4 + 0.02, day)) for step in steps]


def text_of(mail: Any) -> str:
    return " ".join(mail.get_body(("plain",)).get_content().split())


def test_a_usual_day_is_not_told(stream: Stream, mailbox: Mailbox) -> None:
    record(stream, DAY)
    assert sum(walk(9, 20)) == 0
    assert not UnusualDay.objects.exists()


def test_a_day_with_nobody_is_told_once_with_what_was_usual(stream: Stream, mailbox: Mailbox) -> None:
    record(stream, DAY, people=0)
    sent = walk(9, 20)
    assert sum(sent) == 1
    assert sent[5] == 1, "a quarter of an hour after the first hour"
    (mail,) = mailbox.to("owner@example.org")
    assert mail["Subject"] == "Lobby: far fewer people than usual"
    text = text_of(mail)
    assert (
        "on Wednesday, 15 July 2026, between 09:00 and 10:00 (Europe/Berlin), 0 people passed by your stream Lobby. "
        "In these hours of a Wednesday, " in text
    )
    assert f"https://console.example.org/streams/{stream.client_id}/dashboard/?from=2026-07-15&to=2026-07-15" in text
    unusual = UnusualDay.objects.get()
    assert 40 < unusual.usual_low < unusual.usual < unusual.usual_high < 150
    assert f"{unusual.usual_low} to {unusual.usual_high} are usual, and {unusual.usual} in the middle" in text


def test_half_of_the_people_is_told_within_the_day(stream: Stream, mailbox: Mailbox) -> None:
    record(stream, DAY, people=10)
    assert sum(walk(9, 20)) == 1


def test_more_people_are_told_too_and_a_note_on_the_day_is_named(
    stream: Stream, owner: Account, mailbox: Mailbox
) -> None:
    create_note(organisation_of(owner), "Street festival", DAY, by=owner)
    record(stream, DAY, people=60)
    assert sum(walk(9, 20)) == 1
    (mail,) = mailbox.to("owner@example.org")
    assert mail["Subject"] == "Lobby: far more people than usual"
    assert "A note on this day says: Street festival" in text_of(mail)


def test_the_setting_is_off_by_default(stream: Stream, mailbox: Mailbox) -> None:
    assert Stream().unusual_alert is False
    Stream.objects.update(unusual_alert=False)
    record(stream, DAY, people=0)
    assert sum(walk(9, 20)) == 0
    assert not JudgedHour.objects.exists()


def test_hours_that_were_not_watched_are_not_judged(stream: Stream, mailbox: Mailbox) -> None:
    record(stream, DAY, people=0, watched_s=600)
    assert sum(walk(9, 20)) == 0


def test_five_weeks_are_too_few(owner: Account, mailbox: Mailbox) -> None:
    record(make_stream(owner, "New", weeks=5), DAY, people=0)
    assert sum(walk(9, 20)) == 0


def test_a_stream_waits_while_its_visits_are_not_added_up(stream: Stream, mailbox: Mailbox) -> None:
    record(stream, DAY, people=0)
    with connection.cursor() as cursor:
        mark = "INSERT INTO visits_mark (stream_id, slot_at, reaches_at) VALUES (%s, %s, %s)"
        cursor.execute(mark, [stream.pk, at(9), at(10)])
        assert sum(walk(9, 11)) == 0
        cursor.execute("DELETE FROM visits_mark")
    assert sum(walk(11.25, 12)) == 1


def test_each_hour_is_judged_once(stream: Stream, mailbox: Mailbox) -> None:
    record(stream, DAY)
    assert [judge_streams(at(hour)) for hour in (10.2, 10.3, 10.5, 11.2, 11.3)] == [1, 1, 0, 0, 1]


def test_what_dies_before_the_commit_is_judged_again(
    stream: Stream, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(stream, DAY, people=0)

    def die(*_: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(unusual_alerts, "tell_webhooks", die)
        with pytest.raises(RuntimeError):
            send_unusual_alerts(at(10.3))
    assert not UnusualDay.objects.exists()
    assert send_unusual_alerts(at(10.3)) == 1


def test_what_dies_before_the_mail_is_mailed_later_and_once(
    stream: Stream, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(stream, DAY, people=0)

    def die(*_: Any) -> int:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(unusual_alerts, "mail_owners", die)
        with pytest.raises(RuntimeError):
            send_unusual_alerts(at(10.3))
    assert UnusualDay.objects.get().told_at is None
    assert [send_unusual_alerts(at(hour)) for hour in (10.4, 10.5, 11.5)] == [1, 0, 0]


def test_a_change_that_lasts_is_told_again_after_a_week(stream: Stream, mailbox: Mailbox) -> None:
    told = []
    for days in range(8):
        day = DAY + timedelta(days=days)
        record(stream, day, people=0)
        told.append(sum(walk(10.25, 11.25, day)))
    assert told == [1, 0, 0, 0, 0, 0, 0, 1]
    assert "It has been so every day since Wednesday, 15 July." in text_of(mailbox.to("owner@example.org")[-1])


def test_a_webhook_is_told_the_numbers(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    create_endpoint(organisation_of(owner), "https://example.com/hooks", name="", events=["numbers.unusual"])
    record(stream, DAY, people=0)
    walk(9, 12)
    (delivery,) = Delivery.objects.all()
    said = json.loads(delivery.body)
    assert (said["type"], said["data"]["stream_name"]) == ("numbers.unusual", "Lobby")
    expected = {"metric": "passing_by", "direction": "fewer", "counted": 0, "hours": 1, "since_day": "2026-07-15"}
    assert expected.items() <= said["data"].items()
    assert said["data"]["from"] == "2026-07-15T09:00:00+02:00"
    assert said["data"]["to"] == "2026-07-15T10:00:00+02:00"


def test_one_statement_reads_many_streams(owner: Account, mailbox: Mailbox, django_assert_num_queries: Any) -> None:
    for number in range(4):
        record(make_stream(owner, f"Door {number}", weeks=1), DAY)
    with django_assert_num_queries(5):  # savepoint, JIT off, the statement, release, what is forgotten
        assert judge_streams(at(10.3)) == 4


def test_streams_of_a_site_are_one_mail(owner: Account, mailbox: Mailbox) -> None:
    site = Site.objects.create(organisation=organisation_of(owner), name="Lyon")
    made = [make_stream(owner, f"Lyon {number}") for number in (1, 2)]
    Stream.objects.update(site=site)
    for one in made:
        record(one, DAY, people=5)
    assert sum(walk(9, 13)) == 1
    (mail,) = mailbox.to("owner@example.org")
    assert mail["Subject"] == "Lyon: 2 streams have unusual numbers"
    assert "- Lyon 1: " in text_of(mail)


def test_nobody_in_several_streams_at_once_is_rather_our_fault(owner: Account, mailbox: Mailbox) -> None:
    made = [make_stream(owner, f"Door {number}") for number in (1, 2, 3)]
    for one in made:
        record(one, DAY, people=0)
    assert sum(walk(9, 11)) == 0
