"""Erasing a range of a stream's visits, with all that is kept of them. For the console and the command line."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from django.db import connection, transaction

from onlooker.audit.chain import moment_text
from onlooker.audit.entries import append_entry
from onlooker.database import load_queries
from onlooker.metrics.block_release import SETTLED_AFTER, forget_blocks, forget_blocks_of
from onlooker.sentences import Sentence
from onlooker.slots import slots_around
from onlooker.visits.models import PutAside
from onlooker_pipeline.visits.visit import Visit, decode_visit

AT_ONCE = 5000
"""Visits per transaction."""

_AWAIT_WRITERS = "LOCK TABLE ONLY visits_visit, streams_devicecoverage, streams_quality IN SHARE ROW EXCLUSIVE MODE"
"""In the order in which a gateway writes them."""
_queries = load_queries("onlooker.metrics", "sql/erasure.sql")


@dataclass(frozen=True)
class ErasedVisits:
    """What an erasure took away, or would take away."""

    visits: int
    slots: int
    """Quarters of an hour whose totals go altogether, because their visits are past retention."""
    put_aside: int


def erasable_range(
    from_at: datetime, to_at: datetime, *, grid: bool, now: datetime | None = None
) -> tuple[datetime, datetime]:
    """The range that is erased. On the grid, all slots that it touches: how many go tells of no moment inside a slot.

    Raises ValueError, with a sentence. A slot must have ended some time ago: while visits of it arrive, when they do so
    tells when they began.
    """
    now = now or datetime.now(UTC)
    if from_at >= to_at:
        raise ValueError(Sentence("The range must end after it begins."))
    if to_at > now:
        raise ValueError(Sentence("The range must not reach into the future."))
    if not grid:
        return from_at, to_at
    from_at, to_at = slots_around(from_at, to_at)
    if to_at > now - SETTLED_AFTER:
        minutes = SETTLED_AFTER // timedelta(minutes=1)
        raise ValueError(
            Sentence(
                "This stream is on the grid: whole quarters of an hour are erased. The last one of this range ended "
                "less than {minutes} minutes ago, or has not ended. Wait, or choose an earlier end.",
                minutes=minutes,
            )
        )
    return from_at, to_at


def count_range(stream_id: int, from_at: datetime, to_at: datetime) -> ErasedVisits:
    """What erasing this range would take away now."""
    values: dict[str, Any] = {"stream_id": stream_id, "from_at": from_at, "to_at": to_at}
    with connection.cursor() as cursor:
        cursor.execute(_queries["count_range"], values)
        visits, slots = cursor.fetchone()
    return ErasedVisits(visits, slots, len(_find_put_aside(stream_id, from_at, to_at)))


def erase_range(stream_id: int, from_at: datetime, to_at: datetime, *, actor: str) -> ErasedVisits:
    """Every visit that reaches into the range goes whole, and its share in totals with it.

    The range is one of `erasable_range`. Each step can be repeated: an erasure that was interrupted is begun again.
    """
    values: dict[str, Any] = {"stream_id": stream_id, "from_at": from_at, "to_at": to_at, "limit": AT_ONCE}
    _refuse_later_visits(values, actor)
    visits = 0
    while erased := _erase_some(values):
        visits += erased
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_queries["erase_totals"], values)
        slots = int(cursor.rowcount)
        cursor.execute(_queries["erase_device_quality"], values)
        cursor.execute(_queries["erase_quality"], values)
        forget_blocks(cursor, stream_id, from_at, to_at)
    found = _find_put_aside(stream_id, from_at, to_at)
    PutAside.objects.filter(pk__in=found).delete()
    return ErasedVisits(visits, slots, len(found))


def _refuse_later_visits(values: dict[str, Any], actor: str) -> None:
    """Recorders and gateways that are writing finish first; those that write later see that the range is erased."""
    about = {"from": moment_text(values["from_at"]), "to": moment_text(values["to_at"])}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_AWAIT_WRITERS)
        cursor.execute(_queries["note_erased"], values)
        append_entry(values["stream_id"], actor=actor, action="visits.erased", about=about)


@transaction.atomic
def _erase_some(values: dict[str, Any]) -> int:
    """Some visits, the totals of their slots, and a mark: the roll-up is filled from those that stay.

    The marks are locked first, so that no filler is at work on these slots when their totals go.
    """
    with connection.cursor() as cursor:
        cursor.execute(_queries["erase_visits"], values)
        rows = cursor.fetchall()
        if rows:
            slots = {"stream_id": values["stream_id"], "slots": [slot_at for slot_at, _ in rows]}
            cursor.execute(_queries["erase_slots"], slots)
            forget_blocks_of(cursor, slots["stream_id"], slots["slots"])
    return sum(count for _, count in rows)


def _find_put_aside(stream_id: int, from_at: datetime, to_at: datetime) -> list[int]:
    """Numbers. What can't be read goes if it came after the range began: what it was about can't be told."""
    found = PutAside.objects.filter(stream_id=stream_id, put_aside_at__gte=from_at)
    reaches_in = _reaches_into(from_at.timestamp() * 1000, to_at.timestamp() * 1000)
    return [row.pk for row in found.iterator() if reaches_in(bytes(row.payload))]


def _reaches_into(from_ms: float, to_ms: float) -> Callable[[bytes], bool]:
    def judge(payload: bytes) -> bool:
        try:
            visit: Visit = decode_visit(payload)
        except msgspec.MsgspecError:
            return True
        return visit.began_ms < to_ms and visit.present[-1][1] > from_ms

    return judge
