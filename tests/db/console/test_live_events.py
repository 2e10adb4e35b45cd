"""What an open dashboard receives: who is in view, when there are newer numbers, and a sign that the server lives."""

import time

import pytest
from django.utils import timezone

from event_stream import listening
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
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


def path_of(stream: Stream) -> str:
    return f"/streams/{stream.client_id}/dashboard/live/"


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_stream_that_is_not_live_says_how_it_stands(console, owner, is_seen) -> None:
    stream = create_stream("Back door", owner=owner, kind="developer").stream
    if is_seen:
        Usage.objects.create(
            stream=stream, month=month_of(time.time()), video_s=1, last_frame_at="2026-03-01T20:30:00+00:00"
        )
    Stream.objects.filter(pk=stream.pk).update(time_zone="Asia/Tokyo")
    with console.client_of(owner) as client, listening(client, path_of(stream)) as ear:
        view = ear.await_event("view")
    assert view["in_view"] is None
    expected = (
        ("silent", "Silent", "since 2 Mar 2026, 05:30:00")
        if is_seen
        else ("never", "Never seen", "no frames received yet")
    )
    assert (view["sign"], view["label"], view["words"]) == expected


def test_the_first_frame_of_a_stream_is_told_at_once(console, owner) -> None:
    """Somebody who connects a camera waits for it: sooner than changes of streams that have had frames."""
    stream = create_stream("Back door", owner=owner, kind="developer").stream
    with console.client_of(owner) as client, listening(client, path_of(stream)) as ear:
        assert ear.await_event("view")["sign"] == "never"
        Usage.objects.create(stream=stream, month=month_of(time.time()), video_s=5, last_frame_at=timezone.now())
        assert ear.await_event("view", count=2, within_s=6)["sign"] == "live"


def test_a_question_without_a_follow_up_is_answered_whole(console, owner) -> None:
    """HEAD, by which a proxy or a script asks whether it may."""
    stream = make_live(owner)
    with console.client_of(owner) as client:
        assert client.head(path_of(stream)).status_code == 200
