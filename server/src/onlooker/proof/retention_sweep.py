"""Lets visits of the proof's own streams pass their retention on a clock that is moved forward, and looks again."""

import asyncio
import random
import re
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from onlooker.database import direct_url, open_pool
from onlooker.proof.check import Check, Finding, Unchecked
from onlooker.settings import Settings
from onlooker.slots import SLOT_S
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import delete_expired_of
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.visits.visit import Visit

if TYPE_CHECKING:
    from onlooker.proof.installation import Installation
    from onlooker.proof.places import StoragePlace

RETENTION_DAYS = 30
PEOPLE = 30
BEGAN_S = (3600, 6 * 3600)
"""How long ago they came."""
FILLED_WITHIN_S = 120.0
"""The recorder fills slots half a minute after their visits changed."""
VISIT_COLUMNS = {
    *("stream_id", "began_at", "id", "revision", "ended", "session", "present", "still", "looking", "written_at"),
    *("age", "age_confidence", "gender", "gender_confidence", "confidence"),
    *EXPRESSIONS,
}
"""Times and estimates: no picture, no position and no name."""
ON_TIME = ("visits-deleted-on-time", "kept-visits")
TOTALS = ("only-totals-stay", "kept-slot-totals")
ESTIMATES = ("visits-times-and-estimates",)
DEVICES = ("kept-device-coverage",)
FREED = ("database", "database server's logs", "swap")
"""Where bytes outlive their rows, as the documentation says; rows themselves are looked for by their text."""
WAL_FILE = re.compile(r" [0-9A-F]{24}$")

_COLUMNS = """SELECT attname FROM pg_attribute
WHERE attrelid = 'visits_visit'::regclass AND attnum > 0 AND NOT attisdropped"""
_TABLES = """SELECT table_name FROM information_schema.columns
JOIN pg_class ON oid = to_regclass(quote_ident(table_name))
WHERE column_name = 'stream_id' AND table_schema = current_schema() AND relkind IN ('r', 'p') AND NOT relispartition
ORDER BY 1"""
_HOLDING = sql.SQL("SELECT count(*) FROM {} t WHERE stream_id = ANY(%s) AND t::text LIKE ANY(%s)")
_COUNT_VISITS = "SELECT count(*) FROM visits_visit WHERE stream_id = ANY(%s)"
_COUNT_DEVICE_SLOTS = "SELECT count(*) FROM streams_devicecoverage WHERE stream_id = ANY(%s)"
_COUNT_MARKS = "SELECT count(*) FROM visits_mark WHERE stream_id = ANY(%s)"
_COUNT_TIED = "SELECT count(*) FROM visits_visit WHERE stream_id = ANY(%s) AND ended AND session <> ''"
_RETENTIONS = "SELECT id, retention_days FROM streams_stream WHERE id = ANY(%s)"
_TOTALS = "SELECT coalesce(sum(passing_by), 0) FROM metrics_slot WHERE stream_id = %s"
_FINE = """SELECT count(*) FROM metrics_slot WHERE stream_id = ANY(%s)
AND (date_bin('15 minutes', slot_at, 'epoch') <> slot_at OR date_bin('15 minutes', reaches_at, 'epoch') <> reaches_at
     OR still_us %% 1000000 <> 0 OR looking_us %% 1000000 <> 0 OR balance %% 10000000 <> 0)"""


@dataclass(frozen=True)
class SweptPeople:
    """Visits of the proof that are to be swept."""

    stream_id: int
    visits: Sequence[Visit]

    def texts(self) -> list[str]:
        """By which a row would show one: its id, and its moments to the millisecond. None of these ends with 0."""
        moments = [_clock(edge_ms) for visit in self.visits for edge_ms in visit.present[0]]
        return [*(str(uuid.UUID(bytes=visit.id)) for visit in self.visits), *moments]

    def traces(self, content: bytes) -> set[str]:
        """Visits whose id these bytes hold, as a number or as text."""
        ids = {uuid.UUID(bytes=visit.id) for visit in self.visits}
        return {str(one) for one in ids if one.bytes in content or str(one).encode() in content}


def _clock(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%H:%M:%S.%f}"[:-3]


@dataclass
class Aftermath:
    """What is left after the sweep, and what was wrong before."""

    early: int = 0
    """Visits that were gone while they had time left."""
    visits: int = 0
    device_slots: int = 0
    people: int = 0
    """In totals."""
    fine_slots: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    """Rows that still show a visit, by table."""
    strange_columns: list[str] = field(default_factory=list)
    tied: int = 0
    """Ended visits that name their session."""
    elsewhere: list[str] = field(default_factory=list)
    """Places besides the database whose bytes show a visit."""

    def faults(self) -> dict[str, tuple[str, ...]]:
        """Sentences, with the promises that each breaks."""
        told = {
            f"{self.early} visits went before their retention was over.": (self.early, ON_TIME),
            f"{self.visits} visits are still there after their retention.": (self.visits, ON_TIME),
            f"{self.device_slots} quarters of an hour that devices told of are still there.": (
                self.device_slots,
                DEVICES,
            ),
            f"The totals count {self.people} people of {PEOPLE}.": (self.people != PEOPLE, TOTALS),
            f"{self.fine_slots} totals are finer than a quarter of an hour, a second or a hundredth.": (
                self.fine_slots,
                TOTALS,
            ),
            f"Rows still show deleted visits: {_list(self.rows)}.": (self.rows, TOTALS),
            f"A visit has columns that nobody knows: {', '.join(self.strange_columns)}.": (
                self.strange_columns,
                ESTIMATES,
            ),
            f"{self.tied} ended visits name their session.": (self.tied, ESTIMATES),
            f"Bytes of deleted visits are in {', '.join(self.elsewhere)}.": (self.elsewhere, ON_TIME),
        }
        return {sentence: promises for sentence, (is_so, promises) in told.items() if is_so}


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def make_people(stream_id: int, now_s: float, source: random.Random) -> SweptPeople:
    """Who came some hours ago, each at a moment of their own."""
    visits = []
    for _ in range(PEOPLE):
        start = round(now_s - source.uniform(*BEGAN_S)) * 1000 + 10 * source.randrange(100) + 7
        end = start + 10 * source.randrange(800, 6_000) + 6
        visits.append(
            Visit(
                id=uuid.UUID(int=source.getrandbits(128)).bytes,
                stream_id=stream_id,
                session=f"{stream_id}.scene_analysis-1.{source.getrandbits(64):x}",
                revision=1,
                ended=True,
                present=[(start, end)],
                still=[(start + 501, start + 5_502)],
                looking=[(start + 1_003, start + 3_504)],
                age=source.uniform(20, 60),
                age_confidence=0.9,
                gender="female",
                gender_confidence=0.9,
                expression=(0.2, 0.6, 0.1, 0.05, 0.05),
                confidence=1.0,
            )
        )
    return SweptPeople(stream_id, visits)


async def _write(settings: Settings, people: SweptPeople) -> None:
    async with open_pool(settings, size=1) as pool:
        refused = await VisitWriter(pool, Partitions(pool)).write(people.visits)
        assert not refused, refused


async def sweep(settings: Settings, retentions: Mapping[int, int], *, now: datetime) -> None:
    """As the recorder sweeps, with the clock that it is given, and these streams alone."""
    async with open_pool(settings, size=1) as pool, pool.connection() as connection:
        for stream_id, days in retentions.items():
            await delete_expired_of(connection, stream_id, days, now=now.timestamp())


def _await_totals(installation: "Installation", streams: list[int]) -> None:
    """Visits are deleted only once their totals are filled."""
    give_up_at = time.monotonic() + FILLED_WITHIN_S
    while _count(installation, _COUNT_MARKS, streams):
        if time.monotonic() > give_up_at:
            raise Unchecked(f"The recorder did not fill the totals of the proof's visits in {FILLED_WITHIN_S:g} s.")
        time.sleep(1)


def _count(installation: "Installation", statement: str, *values: Any) -> int:
    return int(installation.query(statement, values)[0][0])


def find_rows(installation: "Installation", streams: list[int], texts: Iterable[str]) -> dict[str, int]:
    """How many rows of these streams hold one of the texts, by table."""
    patterns = [f"%{text}%" for text in texts]
    found = {}
    with psycopg.connect(direct_url(installation.settings), autocommit=True, options="-c TimeZone=UTC") as connection:
        for (table,) in connection.execute(_TABLES).fetchall():
            statement = _HOLDING.format(sql.Identifier(table))
            row = connection.execute(statement, [streams, patterns]).fetchone()
            if row and row[0]:
                found[table] = int(row[0])
    return found


def check_retention(installation: "Installation") -> Finding:
    source = random.Random()  # noqa: S311  whose ids these are is no secret
    now = installation.clock()
    stream = installation.create_stream(retention_days=RETENTION_DAYS, reads_expression=True)
    people = make_people(stream.id, now.timestamp(), source)
    asyncio.run(_write(installation.settings, people))
    streams = [one.id for one in installation.streams]
    _await_totals(installation, streams)
    if not find_rows(installation, streams, people.texts()):
        raise Unchecked("The proof's visits can't be found in the database before they are deleted.")
    after = _sweep_and_look(installation, people, streams, now)
    freed, limits = _search_bytes(installation, people, after)
    faults = after.faults()
    return Finding(
        done=f"Gave a stream of the proof {PEOPLE} visits, swept its {len(streams)} streams with the recorder's own "
        "code, by today's clock and by one after their retention, and looked through every table and every place "
        "that can be read.",
        found=" ".join(faults)
        or f"Today nothing went. After their retention no row shows any of the visits; what is left are totals of "
        f"{SLOT_S // 60} minutes.",
        ok=not faults,
        figures={"visits": PEOPLE, "streams": len(streams), "people_in_totals": after.people, "freed_bytes_of": freed},
        broken=tuple(sorted({promise for promises in faults.values() for promise in promises})),
        limits=tuple(limits),
    )


def _sweep_and_look(installation: "Installation", people: SweptPeople, streams: list[int], now: datetime) -> Aftermath:
    after = Aftermath(tied=_count(installation, _COUNT_TIED, streams))
    after.strange_columns = sorted({name for (name,) in installation.query(_COLUMNS)} - VISIT_COLUMNS)
    retentions = {number: int(days) for number, days in installation.query(_RETENTIONS, [streams])}
    asyncio.run(sweep(installation.settings, retentions, now=now))
    after.early = PEOPLE - _count(installation, _COUNT_VISITS, [people.stream_id])
    later = now + timedelta(days=max(retentions.values()) + 1)
    asyncio.run(sweep(installation.settings, retentions, now=later))
    after.visits = _count(installation, _COUNT_VISITS, streams)
    after.device_slots = _count(installation, _COUNT_DEVICE_SLOTS, streams)
    after.people = _count(installation, _TOTALS, people.stream_id)
    after.fine_slots = _count(installation, _FINE, streams)
    after.rows = find_rows(installation, streams, people.texts())
    return after


def _search_bytes(installation: "Installation", people: SweptPeople, after: Aftermath) -> tuple[int, list[str]]:
    """How many visits the room of deleted rows still shows, and what could not be looked at."""
    from onlooker.proof.places import search_places

    freed: set[str] = set()

    def find(content: bytes, place: "StoragePlace") -> Iterable[str]:
        traces = people.traces(content)
        if place.name in FREED:
            freed.update(traces)
        return traces

    searched = search_places(installation, find)
    where = {hit.rpartition(": ")[0] for hit in searched.hits}
    rooms = {name for name in where if name.startswith(tuple(f"{place}: " for place in FREED))}
    after.elsewhere = sorted(where - rooms)
    limits = list(searched.limits)
    if freed:
        names = sorted({WAL_FILE.sub("", name) for name in rooms})
        limits.append(
            f"Bytes of {len(freed)} deleted visits are in room that is free and not yet written over "
            f"({', '.join(names)}): docs/concepts/console.md#on-the-disk says until when."
        )
    return len(freed), limits


CHECK = Check(
    id="retention",
    title="Lets visits pass their retention on a clock moved forward",
    promises=(*ON_TIME, *TOTALS, *ESTIMATES, *DEVICES),
    run=check_retention,
)
