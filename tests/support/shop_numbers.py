"""What streams of a shop counted and when they watched, by days ago."""

from datetime import UTC, datetime, timedelta

from dashboard_numbers import with_numbers
from onlooker.console.accounts.models import Account
from onlooker.database import Pool
from onlooker.metrics.rollup import fill_slots
from onlooker.streams.administration import create_stream
from onlooker.streams.bulk_changes import change_tags
from onlooker.streams.models import Coverage, Site, Stream
from onlooker.streams.organisations import organisation_of
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from recorder_process import visit


def make_shops(owner: Account) -> list[Stream]:
    """Two at a site, the second of them tagged, and one elsewhere."""
    organisation = organisation_of(owner)
    site = Site.objects.create(organisation=organisation, name="North gate")
    streams = [create_stream(name, owner=owner, kind="enterprise").stream for name in ("One", "Two", "Three")]
    Stream.objects.update(created_at=datetime.now(UTC) - timedelta(days=300))
    Stream.objects.filter(pk__in=[stream.pk for stream in streams[:2]]).update(site=site)
    change_tags(streams[1], organisation, added=["window"], removed=[])
    return streams


def count(stream: Stream, people: int, *, days_ago: int) -> None:
    """Interested people, around noon."""
    noon = datetime.now(UTC).replace(hour=0, minute=1, second=0, microsecond=0) - timedelta(days=days_ago - 0.5)
    starts = [round((noon + timedelta(seconds=10 * number)).timestamp() * 1000) for number in range(people)]
    parts = [[(start, start + 5000)] for start in starts]
    visits = [
        visit(stream.pk, began_ms=part[0][0], revision=5, present=part, still=part, looking=part) for part in parts
    ]

    async def act(pool: Pool) -> None:
        assert await VisitWriter(pool, Partitions(pool)).write(visits) == []
        await fill_slots(pool, due_s=0)

    with_numbers(act)


def watch(stream: Stream, *, days: int) -> None:
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    slots = [midnight - timedelta(minutes=15 * (number + 1)) for number in range(96 * days)]
    Coverage.objects.bulk_create([Coverage(stream=stream, slot_at=at, video_s=900) for at in slots])
