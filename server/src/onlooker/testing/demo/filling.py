"""Filling a database with the demo's streams: visits go the way a recorder writes them, and the roll-up is filled."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import msgspec

from onlooker.database import Pool, open_pool
from onlooker.metrics.rollup import begin_anew, fill_slots
from onlooker.settings import Settings
from onlooker.streams.credentials import hash_access_token, new_access_token
from onlooker.testing.demo.days import Gap, draw_day, find_gaps, local_moment
from onlooker.testing.demo.places import PLACES, Place
from onlooker.testing.demo.watching import write_coverage, write_states
from onlooker.visits.partitions import Partitions
from onlooker.visits.visit import Visit
from onlooker.visits.writing import VisitWriter

OWNER = "demo@example.org"
SERVICE = "scene_analysis-1"
BATCH = 2000
WRITERS = 2
SHORTEST_RETENTION_DAYS = 365

_FIND_STREAM = """
SELECT stream.id, client_id, max(last_frame_at) AS filled_to
FROM streams_stream stream JOIN accounts_account owner ON owner.id = owner_id
LEFT JOIN streams_usage ON stream_id = stream.id
WHERE owner.email = %(owner)s AND stream.name = %(name)s AND removed_at IS NULL
GROUP BY stream.id ORDER BY stream.id LIMIT 1"""
_MAKE_STREAM = """
WITH owner AS (
    INSERT INTO accounts_account (password, is_superuser, email, is_staff, is_active, created_at)
    VALUES ('!', false, %(owner)s, false, true, now())
    ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id),
made AS (
    INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at, retention_days, time_zone,
                                silence_alert_minutes, reads_expression)
    SELECT id, %(name)s, gen_random_uuid(), 'enterprise', true, %(since)s, %(retention_days)s, %(zone)s, 0, true
    FROM owner
    RETURNING id, client_id),
token AS (
    INSERT INTO streams_accesstoken (stream_id, sha256, created_at)
    SELECT id, %(sha256)s, %(since)s FROM made)
SELECT id, client_id FROM made"""


@dataclass(frozen=True)
class DemoStream:
    """A stream of the demo."""

    id: int
    client_id: str
    access_token: str
    """Empty where the stream was there before: it is shown once."""
    place: Place

    @property
    def session(self) -> str:
        """Under which its visits are written."""
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
    """Fill the days before a moment, and its own day up to it; a stream that is there already goes on where it ends."""
    now = now or datetime.now(UTC)
    streams = asyncio.run(_fill(Settings(database_url=database_url), places, owner, days=days, now=now))
    if password:
        give_password(database_url, owner, password)
    return streams


def give_password(database_url: str, owner: str, password: str) -> None:
    """With it the owner can sign in at once: as by hand, the e-mail address counts as verified."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    environment["ONLOOKER_DATABASE_URL"] = database_url
    command = [sys.executable, "-m", "onlooker", "account", "create", owner]
    subprocess.run(command, input=f"{password}\n", text=True, check=True, env=environment, stdout=subprocess.DEVNULL)


async def _fill(
    settings: Settings, places: Sequence[Place], owner: str, *, days: int, now: datetime
) -> list[DemoStream]:
    async with open_pool(settings) as pool:
        await begin_anew(pool, senior_age=settings.senior_age)
        writer = VisitWriter(pool, Partitions(pool))
        streams = [await _fill_stream(pool, writer, place, owner, days=days, now=now) for place in places]
        while await fill_slots(pool, due_s=0):
            pass
        async with pool.connection() as connection:
            for table in ("visits_visit", "metrics_slot", "streams_coverage"):
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
        await write_coverage(pool, stream.id, (since, now), gaps)  # last: it says how far the stream is filled
    return stream


def _visits_between(stream: DemoStream, since: datetime, now: datetime, gaps: Sequence[Gap]) -> Iterator[Visit]:
    """All that began and ended in a time."""
    since_ms, now_ms, zone = since.timestamp() * 1000, now.timestamp() * 1000, ZoneInfo(stream.place.zone)
    day = since.astimezone(zone).date()
    while day <= now.astimezone(zone).date():
        for visit in draw_day(stream.place, day, gaps):
            if since_ms <= visit.began_ms and visit.present[-1][1] < now_ms:
                yield msgspec.structs.replace(visit, stream_id=stream.id, session=stream.session)
        day += timedelta(days=1)


async def _write_visits(writer: VisitWriter, visits: Iterator[Visit]) -> None:
    """While the database writes a batch, the next ones are drawn."""

    async def write() -> None:
        while batch := list(islice(visits, BATCH)):
            assert not await writer.write(batch)

    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(write())
