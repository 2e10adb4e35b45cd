"""A log is checked while it changes: what begins or ends meanwhile is no fault."""

from collections.abc import Callable, Iterator

import pytest
from django.utils import timezone

from onlooker.audit import entries
from onlooker.audit.chain import LoggedEntry
from onlooker.audit.entries import append_entry, check_log, end_entries
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]

Meanwhile = Callable[[Callable[[], object]], None]


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Lobby", owner=owner, kind="developer").stream


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Something happens once, after a check has read where the log ends."""

    def arrange(happen: Callable[[], object]) -> None:
        waiting, list_entries = [happen], entries.list_entries

        def list_later(stream_id: int) -> Iterator[LoggedEntry]:
            if waiting:
                waiting.pop()()
            return list_entries(stream_id)

        monkeypatch.setattr(entries, "list_entries", list_later)

    return arrange


def append(stream: Stream) -> None:
    append_entry(stream.pk, actor="account:1", action="numbers.read", about={})


def end_all(stream: Stream) -> None:
    """As when a stream is removed."""
    Stream.objects.filter(pk=stream.pk).update(removed_at=timezone.now())
    assert end_entries(stream.pk)


def test_entries_that_are_added_meanwhile_are_no_fault(stream: Stream, meanwhile: Meanwhile) -> None:
    known = check_log(stream.pk).entries
    meanwhile(lambda: append(stream))
    assert (check_log(stream.pk).fault, check_log(stream.pk).entries) == ("", known + 1)


def test_entries_that_end_meanwhile_are_no_fault(stream: Stream, meanwhile: Meanwhile) -> None:
    meanwhile(lambda: end_all(stream))
    checked = check_log(stream.pk)
    assert (checked.fault, checked.entries) == ("", 0)


def test_a_log_that_begins_meanwhile_is_no_fault(stream: Stream, meanwhile: Meanwhile) -> None:
    end_all(stream)
    Stream.objects.filter(pk=stream.pk).update(removed_at=None)
    meanwhile(lambda: append(stream))
    checked = check_log(stream.pk)
    assert (checked.fault, checked.entries) == ("", 1)
