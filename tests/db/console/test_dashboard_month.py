"""A developer stream's month on its dashboard: a warning from four fifths on, with what to do."""

import time
from collections.abc import Callable

import msgspec
import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from dashboard_numbers import show
from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream, Usage
from onlooker.streams.video_time import month_of

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"enterprise_without_billing": "staff"}, "Ask staff to change it"), ({"stripe_secret_key": "sk_1"}, "/upgrade/")],
)
def test_what_to_do_about_the_month_depends_on_who_may_choose(
    *, sign_in: SignIn, owner: Account, stream: Stream, settings: Settings, changes: dict[str, str], words: str
) -> None:
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, **changes)
    Stream.objects.update(kind="developer")
    Usage.objects.update_or_create(stream=stream, month=month_of(time.time()), defaults={"video_s": 9000})
    assert words in show(sign_in(owner), stream).page


def test_a_month_that_is_nearly_used_up_is_told_with_what_to_do(
    sign_in: SignIn, owner: Account, viewer: Account, stream: Stream
) -> None:
    Usage.objects.update_or_create(stream=stream, month=month_of(time.time()), defaults={"video_s": 10_800})
    share_stream(stream, viewer)
    assert 'id="month"' not in show(sign_in(owner), stream).page
    Stream.objects.update(kind="developer")
    mine, theirs = show(sign_in(owner), stream).page, show(sign_in(viewer), stream).page
    assert "has been reached" in mine
    assert (
        f'<a href="/streams/{stream.client_id}/settings/">Change it to an enterprise stream in its settings</a>' in mine
    )
    assert "has been reached" in theirs
    assert "An owner of its organisation can ask for an enterprise stream" in theirs
    Usage.objects.update(video_s=8640)
    assert "2 h 24 min of this month's 3 h" in show(sign_in(owner), stream).page
    Usage.objects.update(video_s=8639)
    assert 'id="month"' not in show(sign_in(owner), stream).page
