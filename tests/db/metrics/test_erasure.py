"""An erased range: its visits, their share in totals, and whatever arrives later of them."""

import random
import threading
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from django.db import connection

from dashboard_numbers import ask, with_numbers
from onlooker.audit.models import AuditEntry
from onlooker.console.accounts.models import Account
from onlooker.database import Pool
from onlooker.metrics import erasure
from onlooker.metrics.block_release import release_blocks
from onlooker.metrics.days import DAY_FIGURES
from onlooker.metrics.erasure import ErasedVisits, count_range, erase_range
from onlooker.metrics.models import Block
from onlooker.metrics.rollup import fill_slots
from onlooker.slots import SLOT_S
from onlooker.streams.administration import create_stream
from onlooker.streams.device_coverage import DeviceReport, QualityTotals, SlotSums, ToldSlot, record_report
from onlooker.streams.models import Coverage, DeviceCoverage, Quality, Stream
from onlooker.visits.models import ErasedRange, KeptSince, PutAside, VisitRow
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import remove_expired
from onlooker.visits.writer import VisitRefusal, VisitWriter, put_visit_aside
from onlooker_pipeline.visits.visit import Visit
from recorder_process import visit

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SLOT = timedelta(minutes=15)
DAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=3)


@pytest.fixture
def streams(owner: Account) -> tuple[Stream, Stream]:
    """One with visits, and one that never has those which are erased."""
    one, other = (create_stream(name, owner=owner, kind="enterprise").stream for name in ("One", "Other"))
    return one, other


def came(stream_id: int, at: datetime, *, minutes: float = 1, **changes: Any) -> Visit:
    start = int(at.timestamp() * 1000)
    whole = [(start, start + int(minutes * 60_000))]
    five = [(start, start + 5000)]
    one = visit(stream_id, began_ms=start, present=whole, still=five, looking=five)
    return msgspec.structs.replace(one, **changes)


def write(*visits: Visit, fill: bool = True) -> None:
    async def act(pool: Pool) -> None:
        assert await VisitWriter(pool, Partitions(pool)).write(visits) == []
        while fill and await fill_slots(pool, due_s=0):
            pass

    with_numbers(act)


def fill() -> None:
    write()


def slots_of(stream: Stream) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT slot_at, reaches_at, passing_by, interested, still_us, looking_us, gender_female
               FROM metrics_slot WHERE stream_id = %s ORDER BY 1""",
            [stream.pk],
        )
        return cursor.fetchall()


def days_of(stream: Stream) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        columns = ", ".join(("day", "slots", "blocks", *DAY_FIGURES))
        cursor.execute(f"SELECT {columns} FROM metrics_day WHERE stream_id = %s ORDER BY 1", [stream.pk])
        return cursor.fetchall()


def numbers_of(stream: Stream, from_at: datetime, to_at: datetime) -> dict[str, dict[str, Any]]:
    return ask(stream, from_at.isoformat(), to_at.isoformat(), "by_hour")


def erase(stream: Stream, from_at: datetime, to_at: datetime) -> ErasedVisits:
    counted = count_range(stream.pk, from_at, to_at)
    erased = erase_range(stream.pk, from_at, to_at, actor="account:1")
    assert erased == counted, "what the page announces is what goes"
    return erased


@pytest.mark.parametrize("seed", range(6))
def test_numbers_are_as_if_the_erased_had_never_come(
    streams: tuple[Stream, Stream], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random visits of up to three hours, some slots filled and some not, in pieces of three."""
    monkeypatch.setattr(erasure, "AT_ONCE", 3)
    drawing, (stream, twin) = random.Random(seed), streams
    begins = DAY + timedelta(minutes=drawing.randrange(600))
    ends = begins + timedelta(minutes=drawing.randrange(1, 300))
    drawn = [(DAY + timedelta(seconds=drawing.randrange(86_400)), drawing.choice([0.5, 4, 20, 180])) for _ in range(60)]
    stays = [(at, minutes) for at, minutes in drawn if at >= ends or at + timedelta(minutes=minutes) <= begins]
    assert 0 < len(stays) < len(drawn)
    write(*(came(stream.pk, at, minutes=minutes) for at, minutes in drawn[:40]))
    write(*(came(stream.pk, at, minutes=minutes) for at, minutes in drawn[40:]), fill=False)
    write(*(came(twin.pk, at, minutes=minutes) for at, minutes in stays), fill=False)
    assert erase(stream, begins, ends).visits == len(drawn) - len(stays)
    asked = [(DAY, DAY + timedelta(days=1)), (begins - SLOT / 2, ends + SLOT / 3), (begins, ends)]
    for from_at, to_at in asked:
        assert numbers_of(stream, from_at, to_at) == numbers_of(twin, from_at, to_at), "before the roll-up is filled"
    fill()
    for from_at, to_at in asked:
        assert numbers_of(stream, from_at, to_at) == numbers_of(twin, from_at, to_at), "and after"
    assert slots_of(stream) == slots_of(twin)
    assert days_of(stream) == days_of(twin)


def test_a_visit_that_only_reaches_into_the_range_goes_whole(streams: tuple[Stream, Stream]) -> None:
    stream, _ = streams
    noon = DAY + timedelta(hours=12)
    write(
        came(stream.pk, noon - timedelta(hours=30), minutes=31 * 60),
        came(stream.pk, noon - timedelta(minutes=1), minutes=1),
        came(stream.pk, noon + timedelta(minutes=1)),
    )
    assert erase(stream, noon, noon + timedelta(minutes=1)).visits == 1
    began = list(VisitRow.objects.order_by("began_at").values_list("began_at", flat=True))
    assert began == [noon - timedelta(minutes=1), noon + timedelta(minutes=1)]


def test_what_arrives_later_of_the_range_is_not_stored(streams: tuple[Stream, Stream]) -> None:
    """A higher revision of a visit that was open, and a device that was offline for days."""
    stream, other = streams
    noon = DAY + timedelta(hours=12)
    open_visit = came(stream.pk, noon - timedelta(minutes=1), minutes=2, ended=False)
    write(open_visit)
    erase(stream, noon, noon + timedelta(hours=1))
    longer = msgspec.structs.replace(
        open_visit, revision=2, present=[(open_visit.began_ms, open_visit.began_ms + 300_000)]
    )
    write(longer, came(stream.pk, noon + timedelta(minutes=30)), came(stream.pk, noon + timedelta(hours=2)))
    write(came(other.pk, noon + timedelta(minutes=30)))
    assert list(VisitRow.objects.filter(stream=stream).values_list("began_at", flat=True)) == [
        noon + timedelta(hours=2)
    ]
    assert VisitRow.objects.filter(stream=other).count() == 1, "of other streams it is"


def test_totals_of_visits_past_retention_go_by_whole_slots(streams: tuple[Stream, Stream]) -> None:
    stream, _ = streams
    Stream.objects.filter(pk=stream.pk).update(retention_days=1)
    noon = DAY + timedelta(hours=12)
    write(
        came(stream.pk, noon - timedelta(minutes=40)),
        came(stream.pk, noon - timedelta(minutes=1), minutes=2),
        came(stream.pk, noon + timedelta(minutes=14)),
        came(stream.pk, noon + timedelta(minutes=40)),
    )

    async def retain(pool: Pool) -> None:
        await remove_expired(pool, Partitions(pool), now=datetime.now(UTC).timestamp())

    with_numbers(retain)
    assert not VisitRow.objects.exists()
    assert KeptSince.objects.get(stream=stream).since > noon + timedelta(hours=1)
    erased = erase(stream, noon, noon + timedelta(minutes=5))
    assert (erased.visits, erased.slots) == (0, 2), "the one it lies in, and the one with a visit across its begin"
    assert [row[0] for row in slots_of(stream)] == [noon - timedelta(minutes=45), noon + timedelta(minutes=30)]


def test_coverage_stays_and_how_well_people_were_seen_goes(streams: tuple[Stream, Stream]) -> None:
    stream, _ = streams
    noon = DAY + timedelta(hours=12)
    for number in range(4):
        at = noon + number * SLOT
        Coverage.objects.create(stream=stream, slot_at=at, video_s=900)
        Quality.objects.create(
            stream=stream, slot_at=at, models_version="1", pipeline_version="1", frames=10, video_s=9, dark_frames=0,
            face_frames=4, face_video_s=4, faces=[1] * 16,
        )  # fmt: skip
    erase(stream, noon + SLOT + SLOT / 2, noon + 2 * SLOT + SLOT / 3)
    assert Coverage.objects.count() == 4
    assert list(Quality.objects.order_by("slot_at").values_list("slot_at", flat=True)) == [noon, noon + 3 * SLOT]
    with connection.cursor() as cursor:
        cursor.execute("SELECT slots, covered_s FROM metrics_coveragehour WHERE stream_id = %s", [stream.pk])
        assert cursor.fetchall() == [(4, 3600)]
        cursor.execute("SELECT slots, face_frames FROM metrics_qualityhour WHERE stream_id = %s", [stream.pk])
        assert cursor.fetchall() == [(2, 8)]


def tell_slot(stream: Stream, at: datetime, *, revision: int) -> None:
    """A device's sums of a slot, in which it saw faces."""
    totals = QualityTotals("1", "1", 100 * revision, 20, 0, 40, 8, [10 * revision] * 16)
    told = ToldSlot(round(at.timestamp()) // SLOT_S, revision, SlotSums(100.0 * revision, quality=[totals]))

    async def act(pool: Pool) -> None:
        report = DeviceReport(stream.pk, uuid.UUID(int=1), [told], frozenset(), quota_s=None)
        assert not (await record_report(pool, report)).verdicts.refused

    with_numbers(act)


def test_what_a_device_tells_later_of_how_well_people_were_seen_is_not_stored(streams: tuple[Stream, Stream]) -> None:
    """Of a slot that it has told of before, and of one that it has not; what it watched counts."""
    stream, other = streams
    noon = DAY + timedelta(hours=12)
    tell_slot(stream, noon, revision=1)
    erase(stream, noon + SLOT / 2, noon + SLOT + SLOT / 2)
    kept = DeviceCoverage.objects.get(stream=stream)
    assert "quality" not in kept.sums, "nor what it told before"
    tell_slot(stream, noon, revision=2)
    tell_slot(stream, noon + SLOT, revision=1)
    assert not Quality.objects.exists()
    assert not any("quality" in row.sums for row in DeviceCoverage.objects.all())
    watched = list(Coverage.objects.order_by("slot_at").values_list("video_s", flat=True))
    assert watched == [200, 100]
    tell_slot(stream, noon + 2 * SLOT, revision=1)
    tell_slot(other, noon, revision=1)
    assert set(Quality.objects.values_list("stream_id", "slot_at", "frames")) == {
        (stream.pk, noon + 2 * SLOT, 100),
        (other.pk, noon, 100),
    }, "of other slots and streams it is"


def test_visits_that_were_put_aside_go_as_well(streams: tuple[Stream, Stream]) -> None:
    stream, _ = streams
    noon = DAY + timedelta(hours=12)

    async def put(pool: Pool) -> None:
        for at in (noon - timedelta(hours=1), noon + timedelta(minutes=5), noon + timedelta(hours=3)):
            await put_visit_aside(pool, VisitRefusal(came(stream.pk, at), "refused", ""))

    with_numbers(put)
    kept = noon - timedelta(days=1)
    PutAside.objects.create(stream=stream, reason="undecodable", detail="", payload=b"?", put_aside_at=kept)
    PutAside.objects.create(
        stream=stream, reason="undecodable", detail="", payload=b"?", put_aside_at=datetime.now(UTC)
    )
    assert erase(stream, noon, noon + timedelta(hours=1)).put_aside == 2, "the one, and what can't be read"
    assert PutAside.objects.count() == 3
    assert not any(b"scene_analysis" in bytes(row.payload) for row in PutAside.objects.all()), "nor a session's id"


def test_it_is_in_the_audit_log(streams: tuple[Stream, Stream]) -> None:
    stream, _ = streams
    noon = DAY + timedelta(hours=12)
    write(came(stream.pk, noon))
    erase(stream, noon, noon + timedelta(hours=1))
    entry = AuditEntry.objects.filter(stream=stream).latest("number")
    assert (entry.actor, entry.action) == ("account:1", "visits.erased")
    assert str(noon.date()) in entry.detail
    assert "visits" not in entry.detail, "and not how many"


def test_erased_ranges_are_forgotten_when_visits_are_refused_there_anyway(streams: tuple[Stream, Stream]) -> None:
    stream, other = streams
    noon = DAY + timedelta(hours=12)
    for one in (stream, other):
        erase(one, noon, noon + timedelta(hours=1))
    KeptSince.objects.create(stream=stream, since=noon + timedelta(hours=1))

    async def retain(pool: Pool) -> None:
        await remove_expired(pool, Partitions(pool), now=datetime.now(UTC).timestamp())

    with_numbers(retain)
    assert [row.stream_id for row in ErasedRange.objects.all()] == [other.pk]


def test_recorders_that_write_at_the_same_time_leave_nothing_of_the_range(streams: tuple[Stream, Stream]) -> None:
    """Whichever comes first: what is written before is erased, what comes after is refused."""
    stream, _ = streams
    noon = DAY + timedelta(hours=12)
    is_over = threading.Event()

    async def record(pool: Pool) -> None:
        writer, partitions = VisitWriter(pool, Partitions(pool)), Partitions(pool)
        await partitions.make_ahead(noon.timestamp())
        while not is_over.is_set():
            at = noon + timedelta(seconds=random.randrange(3600))
            await writer.write([came(stream.pk, at, id=uuid.uuid4().bytes) for _ in range(3)])
            await fill_slots(pool, due_s=0)

    recorders = [threading.Thread(target=with_numbers, args=[record]) for _ in range(3)]
    for one in recorders:
        one.start()
    try:
        while VisitRow.objects.count() < 50:
            pass
        erase_range(stream.pk, noon, noon + timedelta(hours=2), actor="account:1")
        assert not VisitRow.objects.exists()
    finally:
        is_over.set()
        for one in recorders:
            one.join()
    fill()
    assert not VisitRow.objects.exists()
    assert slots_of(stream) == []


def test_a_block_that_an_erased_range_touches_goes_whole(streams: tuple[Stream, Stream]) -> None:
    stream, _ = streams
    Stream.objects.filter(pk=stream.pk).update(groups_of=3)
    write(*(came(stream.id, DAY + timedelta(hours=hour, minutes=number)) for hour in (9, 15) for number in range(4)))
    assert with_numbers(release_blocks) == 2
    erase_range(stream.id, DAY + timedelta(hours=9), DAY + timedelta(hours=9, minutes=2), actor="account:1")
    assert [block.begins_at for block in Block.objects.filter(stream=stream)] == [DAY + timedelta(hours=15)]
    assert with_numbers(release_blocks) == 0


def test_somebody_who_stayed_longer_than_was_known_at_the_release_leaves_no_block(
    streams: tuple[Stream, Stream],
) -> None:
    stream, _ = streams
    Stream.objects.filter(pk=stream.pk).update(groups_of=3)
    first, *others = [came(stream.id, DAY + timedelta(hours=9, minutes=number)) for number in range(4)]
    write(first, *others)
    assert with_numbers(release_blocks) == 1
    longer = came(stream.id, DAY + timedelta(hours=9), minutes=40, id=first.id, revision=first.revision + 1)
    write(longer)
    half_past = DAY + timedelta(hours=9, minutes=30)
    erase_range(stream.id, half_past, half_past + SLOT, actor="account:1")
    assert not Block.objects.filter(stream=stream).exists()
