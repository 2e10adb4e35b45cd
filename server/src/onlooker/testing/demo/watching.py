"""What the demo's cameras watched: everything but the gaps; what was refused, and the log of states."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.metrics.absences import Absence
from onlooker.metrics.slots import SLOT, slot_of
from onlooker.streams.coverage import SLOT_S, Reason
from onlooker.streams.video_time import month_of
from onlooker.testing.demo.days import Gap

FRAMES_A_SECOND = 5
REFUSED_FOR = Reason.OVERLOADED
LOGGED = (Absence.DISABLED, Absence.QUOTA)
"""What the log of states tells; the other gaps are told by coverage."""

_queries = load_queries("onlooker.streams")
_ADD_STATE = "INSERT INTO streams_statechange (stream_id, at, state) VALUES (%s, %s, %s)"
_NOTE_FRAME = """
UPDATE streams_usage SET last_frame_at = %(at)s
WHERE stream_id = %(stream_id)s AND month = (SELECT max(month) FROM streams_usage WHERE stream_id = %(stream_id)s)"""


async def write_states(pool: Pool, stream_id: int, since: datetime, gaps: Sequence[Gap]) -> None:
    """In order of time: the newest that is written holds."""
    changes: list[tuple[datetime, str]] = [(since, "enabled")]
    for gap in gaps:
        if gap.why in LOGGED:
            changes += [(gap.from_at, gap.why), (gap.to_at, "enabled")]
    async with pool.connection() as connection:
        for at, state in changes:
            await connection.execute(_ADD_STATE, (stream_id, at, state))


async def write_coverage(pool: Pool, stream_id: int, within: tuple[datetime, datetime], gaps: Sequence[Gap]) -> None:
    """Every slot of a time, and every month, as the gateway would have counted their frames."""
    slots = _slots_of(*within)
    refusals = [gap for gap in gaps if gap.why is Absence.REFUSED]
    watched = {slot: _shared_s(slot, *within) - _missed_s(slot, gaps) for slot in slots}
    refused = {slot: FRAMES_A_SECOND * _missed_s(slot, refusals) for slot in slots}
    months: defaultdict[date, float] = defaultdict(float)
    for slot, video_s in watched.items():
        months[month_of(slot.timestamp())] += video_s
    async with pool.connection() as connection:
        await _add(connection, "add_coverage", stream_id, slots=_numbers(watched), video_s=_amounts(watched))
        reasons, frames = [REFUSED_FOR] * len(_amounts(refused)), [int(count) for count in _amounts(refused)]
        await _add(connection, "add_refusals", stream_id, slots=_numbers(refused), reasons=reasons, frames=frames)
        seen = [True] * len(months)
        await _add(connection, "add_usage", stream_id, months=list(months), video_s=list(months.values()), seen=seen)
        await connection.execute(_NOTE_FRAME, {"stream_id": stream_id, "at": within[1]})


async def _add(connection: AsyncConnection[DictRow], query: str, stream_id: int, **columns: Sequence[object]) -> None:
    """With a query of the gateway's meters."""
    rows = len(next(iter(columns.values())))
    await connection.execute(_queries[query], {"stream_ids": [stream_id] * rows, **columns})


def _slots_of(from_at: datetime, to_at: datetime) -> list[datetime]:
    first = slot_of(from_at.astimezone(UTC))
    return [first + number * SLOT for number in range(-((first - to_at) // SLOT))]


def _numbers(amounts: dict[datetime, float]) -> list[int]:
    """The slots with something in them, as they are counted since 1970."""
    return [int(slot.timestamp()) // SLOT_S for slot, amount in amounts.items() if amount > 0]


def _amounts(amounts: dict[datetime, float]) -> list[float]:
    return [amount for amount in amounts.values() if amount > 0]


def _missed_s(slot: datetime, gaps: Sequence[Gap]) -> float:
    return sum(_shared_s(slot, gap.from_at, gap.to_at) for gap in gaps)


def _shared_s(slot: datetime, from_at: datetime, to_at: datetime) -> float:
    return max(min(slot + SLOT, to_at) - max(slot, from_at), timedelta()).total_seconds()
