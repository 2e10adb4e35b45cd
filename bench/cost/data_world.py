"""A believable past of many streams, made inside PostgreSQL: shop hours, busy and quiet streams, all kinds of visit."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from threading import local

import psutil
import psycopg

from bench.lib.product import say
from onlooker.database import Pool, open_pool
from onlooker.metrics.rollup import fill_slots, restart_rollup
from onlooker.settings import Settings
from onlooker.streams.video_time import month_after
from onlooker.visits.partitions import Partitions
from testkit import Cluster, own_cluster
from testkit.worlds.data_reader import WorldStream, open_reader

ZONES = ("Europe/Paris", "America/New_York", "UTC", "Asia/Tokyo", "Asia/Kolkata")
"""Of the streams, in turn."""
BUILDERS = 2
OPENS_AT, OPEN_HOURS = 9, 12
AVERAGE_WEIGHT = 1.1
"""Of a stream on a day, below."""
SAID_EVERY_DAYS = 15
SAID_EVERY_SLOTS = 500_000
TUNING = {
    "max_wal_size": "16GB",
    "checkpoint_timeout": "15min",
    "work_mem": "32MB",
    "maintenance_work_mem": "512MB",
    "effective_cache_size": "8GB",
    "random_page_cost": "1.1",
}
"""What one would set for a database of this size on solid-state disks; beside it `shared_buffers`."""

# In order of time, as visits come in: those of one stream lie far apart on disk. Busy streams have three times the
# visits of quiet ones, Sundays nearly twice those of Mondays. A subquery with OFFSET 0 draws its random numbers once.
MAKE_VISITS = """
WITH made AS (
INSERT INTO visits_visit (stream_id, began_at, id, revision, ended, session, present, still, looking,
                          age, age_confidence, gender, gender_confidence,
                          neutral, happiness, surprise, anger, sadness, confidence)
SELECT stream_id, t, gen_random_uuid(), 2, true, session,
       CASE WHEN parts < 0.75 THEN tstzmultirange(tstzrange(t, t + l))
            WHEN parts < 0.95 THEN tstzmultirange(tstzrange(t, t + 0.5 * l), tstzrange(t + 0.6 * l, t + l))
            ELSE tstzmultirange(tstzrange(t, t + 0.3 * l), tstzrange(t + 0.4 * l, t + 0.6 * l),
                                tstzrange(t + 0.7 * l, t + l)) END,
       CASE WHEN stops > 0.5 THEN '{}'::tstzmultirange
            WHEN parts < 0.75 THEN tstzmultirange(tstzrange(t + 0.1 * l, t + (0.2 + stops) * l))
            ELSE tstzmultirange(tstzrange(t + 0.1 * l, t + 0.25 * l), tstzrange(t + 0.75 * l, t + 0.95 * l)) END,
       CASE WHEN looks > 0.55 THEN '{}'::tstzmultirange
            WHEN parts < 0.5 THEN tstzmultirange(tstzrange(t + 0.15 * l, t + (0.2 + looks) * l))
            ELSE tstzmultirange(tstzrange(t + 0.1 * l, t + 0.2 * l), tstzrange(t + 0.45 * l, t + 0.55 * l),
                                tstzrange(t + 0.8 * l, t + 0.9 * l)) END,
       CASE WHEN looks < 0.5 THEN 8 + 70 * old END, CASE WHEN looks < 0.5 THEN 0.8 ELSE 0 END,
       CASE WHEN looks < 0.5 THEN CASE WHEN parts < 0.4 THEN 'male' ELSE 'female' END END,
       CASE WHEN looks < 0.5 THEN sex ELSE 0 END,
       CASE WHEN looks < 0.45 THEN (1 - mood) * 0.8 END, CASE WHEN looks < 0.45 THEN mood * 0.7 END,
       CASE WHEN looks < 0.45 THEN mood * 0.3 END, CASE WHEN looks < 0.45 THEN (1 - mood) * 0.1 END,
       CASE WHEN looks < 0.45 THEN (1 - mood) * 0.1 END, 0.9
FROM (SELECT stream.id AS stream_id, stream.id || '.scene_analysis-1.' || md5(stream.id || %(day)s::text) AS session,
             date_trunc('milliseconds', (%(day)s::date + interval '1 hour' * (%(opens)s + %(hours)s
                 * CASE WHEN random() < 0.5 THEN random() ELSE (random() + random()) / 2 END))
                 AT TIME ZONE stream.time_zone) AS t,
             interval '100 milliseconds' * (20 + floor(1180 * random() ^ 3)) AS l,
             random() AS parts, floor(100 * random()) / 100 AS stops, floor(100 * random()) / 100 AS looks,
             random() AS old, random() AS sex, random() AS mood
      FROM streams_stream stream
      JOIN LATERAL generate_series(1, floor(
          %(mean)s * (0.5 + (hashint8(stream.id) & 1023) / 1023.0)
              * (0.7 + 0.1 * extract(isodow FROM %(day)s::date)) + random())::int) ON true
      OFFSET 0) drawn
ORDER BY t
RETURNING stream_id, began_at, present)
INSERT INTO visits_mark (stream_id, slot_at, reaches_at)
SELECT stream_id, date_bin('15 minutes', began_at, 'epoch') AS slot_at, max(upper(present))
FROM made GROUP BY 1, 2 ORDER BY slot_at
"""

_ALL_SLOTS = """
FROM generate_series(%(begins_at)s::timestamptz, %(ends_at)s, '15 minutes') slot_at CROSS JOIN streams_stream stream"""
MAKE_COVERAGE = f"""INSERT INTO streams_coverage (stream_id, slot_at, video_s)
SELECT stream.id, slot_at, 900 * random() {_ALL_SLOTS}"""
MAKE_QUALITY = f"""
INSERT INTO streams_quality (stream_id, slot_at, models_version, pipeline_version,
                             frames, video_s, dark_frames, face_frames, face_video_s, faces)
SELECT stream.id, slot_at, '0.1.0', '0.1.0', 9000 * random(), 900 * random(), 90 * random(), 900 * random(),
       90 * random(), ARRAY(SELECT (width * random())::int FROM generate_series(1, 16) width) {_ALL_SLOTS}"""


@dataclass(frozen=True)
class DataWorld:
    """A database, and the days of its visits."""

    url: str
    first_day: date
    days: int
    streams: Sequence[WorldStream]
    server_pid: int
    """Of PostgreSQL."""

    @property
    def begins_at(self) -> datetime:
        return datetime(self.first_day.year, self.first_day.month, self.first_day.day, tzinfo=UTC)

    @property
    def ends_at(self) -> datetime:
        return self.begins_at + timedelta(days=self.days)

    def execute(self, statement: str) -> None:
        with _builder(self.url) as connection:
            connection.execute(statement)

    def add_visits(self, count: int) -> None:
        """About so many more, on all days alike, and the marks of their slots."""
        mean = count / (len(self.streams) * self.days) / AVERAGE_WEIGHT
        building = local()

        def build(number: int) -> None:
            if not hasattr(building, "connection"):
                building.connection = _builder(self.url)
            values = {"mean": mean, "opens": OPENS_AT, "hours": OPEN_HOURS}
            building.connection.execute(MAKE_VISITS, values | {"day": self.first_day + timedelta(days=number)})

        with ThreadPoolExecutor(BUILDERS) as threads:
            for number, _ in enumerate(threads.map(build, range(self.days)), start=1):
                if number % SAID_EVERY_DAYS == 0:
                    say(f"  visits of {number} of {self.days} days made")

    def add_quality(self) -> None:
        """What was watched of all slots of the streams, and how well."""
        values = {"begins_at": self.begins_at, "ends_at": self.ends_at}
        with _builder(self.url) as connection:
            connection.execute("SET session_replication_role = origin")  # triggers sum up hours
            connection.execute(MAKE_COVERAGE, values)
            connection.execute(MAKE_QUALITY, values)

    def group(self, people: int) -> float:
        """Tell about so many people together; seconds that this took."""
        started = time.monotonic()
        with _builder(self.url) as connection:
            connection.execute("SET session_replication_role = origin")  # triggers put all earlier slots into blocks
            connection.execute("UPDATE streams_stream SET groups_of = %s", [people])
        lasted_s = time.monotonic() - started
        self.execute("VACUUM (ANALYZE)")
        return lasted_s

    def copy(self, name: str) -> "DataWorld":
        """The same once more, beside it."""
        server, _, database = self.url.rpartition("/")
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {database} STRATEGY file_copy")
        return replace(self, url=f"{server}/{name}")


def _builder(url: str) -> psycopg.Connection:
    """What is made here is right: nothing looks up a row's stream, and no commit waits for the disk."""
    options = "-c session_replication_role=replica -c synchronous_commit=off -c jit=off -c work_mem=256MB"
    return psycopg.connect(url, autocommit=True, options=options)


def make_world(cluster: Cluster, *, streams: int, days: int) -> DataWorld:
    """Streams without visits, and the months for them; the last of the days was yesterday."""
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE world")
    url = cluster.url.removesuffix("postgres") + "world"
    environment = os.environ | {"ONLOOKER_DATABASE_URL": url}
    subprocess.run([sys.executable, "-m", "onlooker", "migrate"], check=True, env=environment)
    first_day = datetime.now(UTC).date() - timedelta(days=days)
    made = asyncio.run(_prepare(url, first_day, streams))
    return DataWorld(url, first_day, days, made, int((cluster.data / "postmaster.pid").read_text().split()[0]))


async def _prepare(url: str, first_day: date, streams: int) -> list[WorldStream]:
    async with open_reader(url) as reader:
        made = await reader.make_streams([ZONES[number % len(ZONES)] for number in range(streams)])
        months = {month_after(first_day.replace(day=1), count) for count in range(-1, 12)}
        soon = month_after(datetime.now(UTC).date().replace(day=1))
        await Partitions(reader.pool).require({month for month in months if month <= soon}, time.time())
        await restart_rollup(reader.pool, senior_age=reader.settings.senior_age)
    return made


@dataclass(frozen=True)
class Filling:
    """How long the product took for the roll-up of all visits there are."""

    slots: int
    seconds: float

    def describe(self) -> str:
        return f"{self.slots} slots filled in {self.seconds:.0f} s, {self.slots / self.seconds:.0f} a second"


def roll_up(world: DataWorld) -> Filling:
    """Fill all slots that are marked, as recorders do, and have the tables vacuumed."""
    started = time.monotonic()
    slots = asyncio.run(_fill(world))
    filling = Filling(slots, time.monotonic() - started)
    world.execute("VACUUM (ANALYZE)")
    return filling


async def _fill(world: DataWorld) -> int:
    filled = 0

    async def fill(pool: Pool) -> None:
        nonlocal filled
        while taken := await fill_slots(pool, due_s=0):
            if (filled + taken) // SAID_EVERY_SLOTS > filled // SAID_EVERY_SLOTS:
                say(f"  {filled + taken} slots filled")
            filled += taken

    async with open_pool(Settings(database_url=world.url)) as pool, asyncio.TaskGroup() as group:
        for _ in range(BUILDERS):
            group.create_task(fill(pool))
    return filled


def tuning() -> dict[str, str]:
    """A quarter of the memory for its buffers, at most 2 GB."""
    buffers_mb = min(2048, psutil.virtual_memory().total // 4 // 2**20)
    return TUNING | {"shared_buffers": f"{buffers_mb}MB"}


@contextmanager
def tuned_cluster() -> Iterator[Cluster]:
    """PostgreSQL as one would set it up for this; commits wait for the disk, as they do by default."""
    with own_cluster() as cluster:
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            for name, value in tuning().items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        cluster.restart()
        yield cluster
