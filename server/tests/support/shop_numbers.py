"""What streams of a shop counted and when they watched, by days ago."""

from datetime import UTC, datetime, timedelta

from dashboard_numbers import with_numbers
from onlooker.database import Pool
from onlooker.metrics.rollup import fill_slots
from onlooker.streams.models import Coverage, Stream
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from recorder_process import visit


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
