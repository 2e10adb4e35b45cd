"""What an open dashboard receives: who is in view, when there are newer numbers, and a sign that the server lives."""

import time
import uuid

import pytest
from django.db import connection
from django.utils import timezone

from event_stream import listening
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream, set_stream
from onlooker.streams.models import Stream, Usage
from onlooker.streams.video_time import month_of

pytest_plugins = ["pages", "consoles"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def console_settings_of_module():
    return {"console_refresh_s": 3}


def make_live(owner: Account) -> Stream:
    stream = create_stream("Front door", owner=owner, kind="developer").stream
    Usage.objects.create(stream=stream, month=month_of(time.time()), video_s=5, last_frame_at=timezone.now())
    return stream


def appear(stream: Stream, *, looks: bool) -> None:
    """Somebody whose visit is open, as a recorder writes it."""
    now = timezone.now().replace(microsecond=0)
    month = now.replace(day=1, hour=0, minute=0, second=0)
    after = (month.replace(day=28) + timezone.timedelta(days=4)).replace(day=1)
    values = {"stream": stream.pk, "at": now, "id": uuid.uuid4(), "looks": looks}
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS visits_visit_{month:y%Ym%m} PARTITION OF visits_visit "
            f"FOR VALUES FROM ('{month.isoformat()}') TO ('{after.isoformat()}')"
        )
        cursor.execute(
            """INSERT INTO visits_visit (stream_id, began_at, id, revision, ended, session, present, still, looking,
                                         age_confidence, gender_confidence, confidence)
               SELECT %(stream)s, %(at)s, %(id)s, 1, false, 'session', here, '{}',
                      CASE WHEN %(looks)s THEN here ELSE '{}' END, 0, 0, 1
               FROM (SELECT tstzmultirange(tstzrange(%(at)s, %(at)s + interval '2 s')) AS here) somebody""",
            values,
        )


def path_of(stream: Stream) -> str:
    return f"/streams/{stream.client_id}/dashboard/live/"


def test_the_first_events_come_at_once(console, owner) -> None:
    stream = make_live(owner)
    with console.client_of(owner) as client, listening(client, path_of(stream)) as ear:
        view = ear.await_event("view", within_s=5)
        assert ear.await_event("numbers") == {"next_s": 3}
    assert ear.status == 200
    assert ear.headers["content-type"] == "text/event-stream"
    assert ear.headers["x-accel-buffering"] == "no"
    assert "no-store" in ear.headers["cache-control"]
    assert "content-length" not in ear.headers
    assert "content-security-policy" in ear.headers
    assert view == {"in_view": 0, "looking": 0, "sign": "live", "label": "Live", "words": "Nobody in view"}


def test_who_comes_and_goes_is_told_and_what_stays_is_not(console, owner) -> None:
    stream = make_live(owner)
    with console.client_of(owner) as client, listening(client, path_of(stream)) as ear:
        ear.await_event("view")
        appear(stream, looks=True)
        appear(stream, looks=False)
        view = ear.await_event("view", count=2)
        assert (view["in_view"], view["looking"], view["words"]) == (2, 1, "2 in view, 1 looking")
        gone = ear.await_event("view", count=3, within_s=15)
        assert gone["words"] == "Nobody in view"
        assert len(ear.named("view")) == 3
        ear.await_event("numbers", count=3, within_s=15)  # newer ones are announced again and again


def test_a_stream_that_is_switched_off_is_told_soon(console, owner) -> None:
    stream = make_live(owner)
    with console.client_of(owner) as client, listening(client, path_of(stream)) as ear:
        ear.await_event("view")
        set_stream(str(stream.client_id), {"enabled": False}, quota_s=10_800.0)
        assert ear.await_event("view", count=2, within_s=15)["label"] == "Disabled"
