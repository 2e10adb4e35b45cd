"""A removed stream's rows go piece by piece, nothing too soon, and the stream last."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from memberships import invite_to, share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.billing.models import Checkout, Customer, Subscription
from onlooker.console.streams import purge
from onlooker.console.streams.purge import purge_removed_streams
from onlooker.gateway.models import Blob, Job
from onlooker.metrics.definitions import BLOCK_FIGURES
from onlooker.streams.administration import create_stream, remove_stream
from onlooker.streams.bulk_changes import change_tags
from onlooker.streams.models import Blindness, Coverage, DeviceCoverage, Refusal, StateChange, Stream, Usage
from onlooker.streams.organisations import organisation_of
from onlooker.visits.models import PutAside

pytest_plugins = ["pages"]
NOW = timezone.now()
LATER = NOW + timedelta(hours=1)  # long after the tests that run before these


@pytest.fixture
def stream(owner: Account, viewer: Account) -> Stream:
    """With rows in every table that is not about bytes."""
    made = create_stream("Lobby", owner=owner, kind="developer").stream
    share_stream(made, viewer)
    invite_to(made, "new@example.org")
    Usage.objects.create(stream=made, month=NOW.date().replace(day=1))
    Refusal.objects.create(stream=made, slot_at=NOW, reason="failed", frames=1)
    PutAside.objects.create(stream=made, reason="refused", detail="", payload=b"", put_aside_at=NOW)
    sums = {"revision": 1, "watched_s": 9, "counted_s": 9, "sums": {}, "first_at": NOW, "last_at": NOW}
    DeviceCoverage.objects.create(stream=made, slot_at=NOW, device=uuid.uuid4(), **sums)
    for number in range(7):
        Coverage.objects.create(stream=made, slot_at=NOW - number * timedelta(minutes=15), video_s=1)
    return made


def add_job(stream: Stream, *, is_finished: bool) -> Job:
    return Job.objects.create(
        job_id=uuid.uuid4(),
        stream=stream,
        service="dummy",
        version=1,
        params=b"",
        attachments=[],
        accepted_at=NOW,
        deadline_at=NOW + timedelta(hours=1),
        finished_at=NOW if is_finished else None,
        expires_at=NOW + timedelta(days=1),
    )


def rows_left(stream: Stream) -> dict[str, int]:
    """By table, in all that know streams."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t
               USING (table_schema, table_name)
               WHERE c.column_name = 'stream_id' AND t.table_schema = 'public' AND t.table_type = 'BASE TABLE'"""
        )
        tables = [row[0] for row in cursor.fetchall()]
        assert len(tables) >= 12
        found = {}
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {table} WHERE stream_id = %s", [stream.pk])
            found[table] = cursor.fetchone()[0]
    return {table: count for table, count in found.items() if count}


def test_a_removed_stream_leaves_nothing(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge, "AT_ONCE", 3)
    remove_stream(stream)
    assert purge_removed_streams(LATER) == 1
    assert rows_left(stream) == {}
    assert not Stream.objects.exists()


def test_a_stream_that_told_about_people_in_groups_leaves_nothing_either(stream: Stream, owner: Account) -> None:
    columns, zeros = ", ".join(BLOCK_FIGURES), ", ".join("0" for _ in BLOCK_FIGURES)
    values = {"stream": stream.pk, "at": NOW}
    with connection.cursor() as cursor:
        cursor.execute(
            f"""INSERT INTO metrics_block (stream_id, begins_at, ends_at, reaches_at, {columns})
                VALUES (%(stream)s, %(at)s, %(at)s, %(at)s, {zeros})""",
            values,
        )
        cursor.execute("INSERT INTO metrics_blockprogress VALUES (%(stream)s, %(at)s)", values)
    Blindness.objects.create(stream=stream, slot_at=NOW, fault="black", video_s=5)
    change_tags(stream, organisation_of(owner), added=["window"], removed=[])
    assert {"metrics_block", "metrics_blockprogress", "metrics_day", "metrics_daycoverage"} <= rows_left(stream).keys()
    remove_stream(stream)
    assert purge_removed_streams(LATER) == 1
    assert rows_left(stream) == {}


def test_streams_that_were_not_removed_keep_everything(stream: Stream, owner: Account) -> None:
    other = create_stream("Other", owner=owner, kind="developer").stream
    before = rows_left(stream)
    remove_stream(other)
    assert purge_removed_streams(LATER) == 1
    assert rows_left(stream) == before


def test_the_stream_itself_stays_as_long_as_a_gateway_may_know_its_credentials(stream: Stream) -> None:
    remove_stream(stream)
    assert purge_removed_streams(NOW + timedelta(minutes=1)) == 0
    assert rows_left(stream) == {}
    assert Stream.objects.exists()
    assert purge_removed_streams(LATER) == 1


def test_work_that_does_not_fit_a_round_is_taken_up_again(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge, "ROUND_LIMIT_S", -1)
    remove_stream(stream)
    assert purge_removed_streams(LATER) == 0
    monkeypatch.setattr(purge, "ROUND_LIMIT_S", 20)
    assert purge_removed_streams(LATER) == 1


def test_jobs_that_wait_become_overdue_and_those_that_ended_go(stream: Stream) -> None:
    waiting, _ = add_job(stream, is_finished=False), add_job(stream, is_finished=True)
    remove_stream(stream)
    assert purge_removed_streams(LATER) == 0
    left = Job.objects.get()
    assert (left, left.deadline_at) == (waiting, min(LATER, waiting.deadline_at))
    Job.objects.update(finished_at=LATER)  # as the dispatcher does, which removes its attachments too
    assert purge_removed_streams(LATER) == 1


def test_a_blob_s_row_goes_only_after_its_bytes(stream: Stream) -> None:
    values = {"stream": stream, "size_bytes": 1, "expires_at": LATER + timedelta(days=1)}
    old = Blob.objects.create(blob_id=uuid.uuid4(), created_at=NOW, **values)
    new = Blob.objects.create(blob_id=uuid.uuid4(), created_at=LATER - timedelta(seconds=10), **values)
    remove_stream(stream)
    assert purge_removed_streams(LATER) == 0
    assert Blob.objects.get(pk=old.pk).expires_at == LATER, "the dispatcher removes it now"
    assert Blob.objects.get(pk=new.pk).expires_at > LATER, "its bytes may still be on their way"


def test_a_subscription_keeps_the_stream_until_it_is_cancelled(stream: Stream, owner: Account) -> None:
    customer = Customer.objects.create(account=owner)
    Subscription.objects.create(stream=stream, customer=customer)
    Checkout.objects.create(stream=stream, customer=customer)
    remove_stream(stream)
    assert purge_removed_streams(LATER) == 0
    assert rows_left(stream) == {"billing_subscription": 1}
    Subscription.objects.all().delete()
    assert purge_removed_streams(LATER) == 1
    assert Checkout.objects.get().stream is None


def test_states_are_among_what_goes(stream: Stream) -> None:
    assert StateChange.objects.filter(stream=stream).exists()
    remove_stream(stream)
    purge_removed_streams(LATER)
    assert not StateChange.objects.exists()
