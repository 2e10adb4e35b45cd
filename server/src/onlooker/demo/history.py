"""The past of the demo's streams: visits, written the way a recorder does, states, coverage, and the roll-up."""

import asyncio
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import msgspec
from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries, open_pool
from onlooker.demo.days import Gap, draw_day, find_gaps, local_moment
from onlooker.demo.places import PLACES, Place
from onlooker.metrics.coverage import Absence
from onlooker.metrics.rollup import fill_slots, restart_rollup
from onlooker.metrics.statements import as_array
from onlooker.settings import Settings
from onlooker.slots import SLOT, SLOT_S, slot_of
from onlooker.streams.coverage import Reason
from onlooker.streams.credentials import hash_access_token, new_access_token
from onlooker.streams.video_time import month_of
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.face_size import FACE_BINS, bin_of
from onlooker_pipeline.versions import read_versions
from onlooker_pipeline.visits.visit import Visit

OWNER = "demo@example.org"
SERVICE = "scene_analysis-1"
BATCH = 2000
WRITERS = 2
SHORTEST_RETENTION_DAYS = 365
FRAMES_A_SECOND = 5
FACES_SHARE = 0.1
"""How much of the time a face is in view."""
REFUSED_FOR = Reason.OVERLOADED
LOGGED = (Absence.DISABLED, Absence.QUOTA)
"""Recorded in the log of states; coverage shows the other gaps."""

_queries = load_queries("onlooker.streams")

_FIND_STREAM = """
SELECT stream.id, client_id, max(last_frame_at) AS filled_to
FROM streams_stream stream
JOIN streams_membership owned ON owned.organisation_id = stream.organisation_id AND owned.role = 'owner'
JOIN accounts_account owner ON owner.id = owned.account_id
LEFT JOIN streams_usage ON stream_id = stream.id
WHERE owner.email = %(owner)s AND stream.name = %(name)s AND removed_at IS NULL
GROUP BY stream.id ORDER BY stream.id LIMIT 1"""
_FIND_ORGANISATION = """
WITH owner AS (
    INSERT INTO accounts_account (password, is_superuser, email, is_staff, is_active, created_at)
    VALUES ('!', false, %(owner)s, false, true, now())
    ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id),
known AS (
    SELECT organisation_id AS id FROM streams_membership JOIN owner ON owner.id = account_id
    WHERE role = 'owner' ORDER BY streams_membership.id LIMIT 1),
made AS (
    INSERT INTO streams_organisation (name) SELECT %(owner)s WHERE NOT EXISTS (SELECT FROM known) RETURNING id),
joined AS (
    INSERT INTO streams_membership (organisation_id, account_id, role)
    SELECT made.id, owner.id, 'owner' FROM made, owner)
SELECT id FROM known UNION ALL SELECT id FROM made"""
_MAKE_STREAM = """
WITH made AS (
    INSERT INTO streams_stream (organisation_id, name, client_id, kind, enabled, created_at, retention_days, time_zone,
                                silence_alert_minutes, blind_alert_minutes, reads_expression)
    VALUES (%(organisation)s, %(name)s, gen_random_uuid(), 'enterprise', true, %(since)s, %(retention_days)s, %(zone)s,
            0, 0, true)
    RETURNING id, client_id),
token AS (
    INSERT INTO streams_accesstoken (stream_id, sha256, created_at)
    SELECT id, %(sha256)s, %(since)s FROM made)
SELECT id, client_id FROM made"""
_ADD_STATE = "INSERT INTO streams_statechange (stream_id, at, state) VALUES (%s, %s, %s)"
_NOTE_FRAME = """
UPDATE streams_usage SET last_frame_at = %(at)s
WHERE stream_id = %(stream_id)s AND month = (SELECT max(month) FROM streams_usage WHERE stream_id = %(stream_id)s)"""


@dataclass(frozen=True)
class DemoStream:
    """A stream of the demo."""

    id: int
    client_id: str
    access_token: str
    """Empty if the stream existed before: a token is shown only once."""
    place: Place

    @property
    def session(self) -> str:
        """The session of its visits."""
        return f"{self.id}.{SERVICE}.demo"


def fill_demo(
    database_url: str,
    *,
    days: int = 60,
    places: Sequence[Place] = PLACES,
    now: datetime | None = None,
    owner: str = OWNER,
    password: str | None = None,
) -> list[DemoStream]:
    """Fill the days up to a moment. A stream that exists already continues where it ends."""
    now = now or datetime.now(UTC)
    streams = asyncio.run(_fill(Settings(database_url=database_url), places, owner, days=days, now=now))
    if password:
        give_password(database_url, owner, password)
    return streams


def give_password(database_url: str, owner: str, password: str) -> None:
    """Create the owner's account. Its e-mail address counts as verified, so that the owner can sign in at once."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    environment["ONLOOKER_DATABASE_URL"] = database_url
    command = [sys.executable, "-m", "onlooker", "account", "create", owner]
    subprocess.run(command, input=f"{password}\n", text=True, check=True, env=environment, stdout=subprocess.DEVNULL)


async def _fill(
    settings: Settings, places: Sequence[Place], owner: str, *, days: int, now: datetime
) -> list[DemoStream]:
    async with open_pool(settings) as pool:
        await restart_rollup(pool, senior_age=settings.senior_age)
        writer = VisitWriter(pool, Partitions(pool))
        streams = [await _fill_stream(pool, writer, place, owner, days=days, now=now) for place in places]
        while await fill_slots(pool, due_s=0):
            pass
        async with pool.connection() as connection:
            for table in ("visits_visit", "metrics_slot", "streams_coverage", "streams_quality"):
                await connection.execute(f"ANALYZE {table}")
    return streams


async def _fill_stream(
    pool: Pool, writer: VisitWriter, place: Place, owner: str, *, days: int, now: datetime
) -> DemoStream:
    today = now.astimezone(ZoneInfo(place.zone)).date()
    since = local_moment(today - timedelta(days=days), 0, place.zone)
    gaps = [gap for gap in find_gaps(place, now=now) if gap.from_at >= since]
    values = {"owner": owner, "name": place.name, "zone": place.zone, "since": since}
    async with pool.connection() as connection:
        found = await (await connection.execute(_FIND_STREAM, values)).fetchone()
        if found:
            stream = DemoStream(found["id"], str(found["client_id"]), "", place)
        else:
            token = new_access_token()
            organisation = await (await connection.execute(_FIND_ORGANISATION, values)).fetchone()
            assert organisation
            values |= {"organisation": organisation["id"]}
            values |= {"sha256": hash_access_token(token), "retention_days": max(SHORTEST_RETENTION_DAYS, days + 31)}
            made = await (await connection.execute(_MAKE_STREAM, values)).fetchone()
            assert made
            stream = DemoStream(made["id"], str(made["client_id"]), token, place)
    filled_to = found["filled_to"] if found else None
    if filled_to:
        since, gaps = filled_to, []
    if since < now:
        await _write_visits(writer, _visits_between(stream, since, now, gaps))
        if not filled_to:
            await write_states(pool, stream.id, since, gaps)
        await write_coverage(pool, stream, (since, now), gaps)  # last: it records how far the stream is filled
    return stream


def _visits_between(stream: DemoStream, since: datetime, now: datetime, gaps: Sequence[Gap]) -> Iterator[Visit]:
    """All visits that begin and end in a period."""
    since_ms, now_ms, zone = since.timestamp() * 1000, now.timestamp() * 1000, ZoneInfo(stream.place.zone)
    day = since.astimezone(zone).date()
    while day <= now.astimezone(zone).date():
        for visit in draw_day(stream.place, day, gaps):
            if since_ms <= visit.began_ms and visit.present[-1][1] < now_ms:
                yield msgspec.structs.replace(visit, stream_id=stream.id, session=stream.session)
        day += timedelta(days=1)


async def _write_visits(writer: VisitWriter, visits: Iterator[Visit]) -> None:
    """While the database writes a batch, the next one is drawn."""

    async def write() -> None:
        while batch := list(islice(visits, BATCH)):
            assert not await writer.write(batch)

    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(write())


async def write_states(pool: Pool, stream_id: int, since: datetime, gaps: Sequence[Gap]) -> None:
    """In chronological order: the last one written holds."""
    changes: list[tuple[datetime, str]] = [(since, "enabled")]
    for gap in gaps:
        if gap.why in LOGGED:
            changes += [(gap.from_at, gap.why), (gap.to_at, "enabled")]
    async with pool.connection() as connection:
        for at, state in changes:
            await connection.execute(_ADD_STATE, (stream_id, at, state))


async def write_coverage(
    pool: Pool, stream: DemoStream, within: tuple[datetime, datetime], gaps: Sequence[Gap]
) -> None:
    """Every slot and every month of a period, as the gateway would have counted their frames."""
    slots, stream_id = _slots_of(*within), stream.id
    refusals = [gap for gap in gaps if gap.why is Absence.REFUSED]
    watched = {slot: _shared_s(slot, *within) - _missed_s(slot, gaps) for slot in slots}
    refused = {slot: FRAMES_A_SECOND * _missed_s(slot, refusals) for slot in slots}
    months: defaultdict[date, float] = defaultdict(float)
    for slot, video_s in watched.items():
        months[month_of(slot.timestamp())] += video_s
    async with pool.connection() as connection:
        await _add(connection, "add_coverage", stream_id, slots=_numbers(watched), video_s=_amounts(watched))
        await _add(connection, "add_quality", stream_id, **_quality_of(watched, stream.place))
        reasons, frames = [REFUSED_FOR] * len(_amounts(refused)), [int(count) for count in _amounts(refused)]
        await _add(connection, "add_refusals", stream_id, slots=_numbers(refused), reasons=reasons, frames=frames)
        seen = [True] * len(months)
        await _add(connection, "add_usage", stream_id, months=list(months), video_s=list(months.values()), seen=seen)
        await connection.execute(_NOTE_FRAME, {"stream_id": stream_id, "at": within[1]})


def _quality_of(watched: dict[datetime, float], place: Place) -> dict[str, Sequence[object]]:
    """In the columns of the gateway's query: faces are of one size, and in view for a part of the time."""
    watched_s, versions = _amounts(watched), read_versions()
    faces = [round(FRAMES_A_SECOND * FACES_SHARE * video_s) for video_s in watched_s]
    bins = [[count if number == bin_of(place.face_px) else 0 for number in range(FACE_BINS)] for count in faces]
    return {
        "slots": _numbers(watched),
        "models": [versions.models] * len(faces),
        "pipelines": [versions.pipeline] * len(faces),
        "frames": [round(FRAMES_A_SECOND * video_s) for video_s in watched_s],
        "video_s": watched_s,
        "dark_frames": [0] * len(faces),
        "face_frames": faces,
        "face_video_s": [FACES_SHARE * video_s for video_s in watched_s],
        "faces": [as_array(counts) for counts in bins],
    }


async def _add(connection: AsyncConnection[DictRow], query: str, stream_id: int, **columns: Sequence[object]) -> None:
    """Through a query of the gateway's meters."""
    rows = len(next(iter(columns.values())))
    await connection.execute(_queries[query], {"stream_ids": [stream_id] * rows, **columns})


def _slots_of(from_at: datetime, to_at: datetime) -> list[datetime]:
    first = slot_of(from_at.astimezone(UTC))
    return [first + number * SLOT for number in range(-((first - to_at) // SLOT))]


def _numbers(amounts: dict[datetime, float]) -> list[int]:
    """The numbers since 1970 of the slots with something in them."""
    return [int(slot.timestamp()) // SLOT_S for slot, amount in amounts.items() if amount > 0]


def _amounts(amounts: dict[datetime, float]) -> list[float]:
    return [amount for amount in amounts.values() if amount > 0]


def _missed_s(slot: datetime, gaps: Sequence[Gap]) -> float:
    return sum(_shared_s(slot, gap.from_at, gap.to_at) for gap in gaps)


def _shared_s(slot: datetime, from_at: datetime, to_at: datetime) -> float:
    return max(min(slot + SLOT, to_at) - max(slot, from_at), timedelta()).total_seconds()
