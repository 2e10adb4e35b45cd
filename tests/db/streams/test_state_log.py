"""The log of what a stream might do, written with each change of its owner's: enabled, disabled, or at its quota."""

import time

import pytest

from onlooker.console.accounts.commands import set_account
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream, set_stream
from onlooker.streams.models import StateChange, Stream, Usage
from onlooker.streams.video_time import month_of

pytest_plugins = ["pages"]
QUOTA_S = 1.0


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer").stream


def states_of(stream: Stream) -> list[str]:
    return list(StateChange.objects.filter(stream=stream).order_by("id").values_list("state", flat=True))


def change(stream: Stream, **changes: object) -> None:
    set_stream(str(stream.client_id), changes, quota_s=QUOTA_S)


def test_only_what_really_changes_is_logged(stream: Stream) -> None:
    assert states_of(stream) == ["enabled"]
    change(stream, enabled=True)
    change(stream, enabled=False)
    change(stream, enabled=False, reads_age=False)
    change(stream, name="gate")
    assert states_of(stream) == ["enabled", "disabled"]
    change(stream, enabled=True)
    assert states_of(stream) == ["enabled", "disabled", "enabled"]


def test_a_stream_at_its_quota_stays_there_until_it_is_upgraded(stream: Stream) -> None:
    Usage.objects.create(stream=stream, month=month_of(time.time()), video_s=QUOTA_S)
    change(stream, enabled=False)
    change(stream, enabled=True)
    assert states_of(stream) == ["enabled", "disabled", "quota"]
    change(stream, kind="enterprise")
    assert states_of(stream) == ["enabled", "disabled", "quota", "enabled"]


def test_streams_of_a_disabled_account_are_disabled(stream: Stream, owner: Account) -> None:
    set_account(owner.email, {"is_active": False})
    assert states_of(stream) == ["enabled", "disabled"]
    set_account(owner.email, {"is_active": True})
    assert states_of(stream) == ["enabled", "disabled", "enabled"]
