"""How many rows a gateway writes of a stream in a minute for what it counts, now and as the release before did."""

import asyncio
import time
import uuid

import psycopg

from bench.cost.visit_writes import MAKE_STREAMS
from onlooker.bus.messages import Outcome, Reply, Task
from onlooker.database import Pool, open_pool
from onlooker.gateway.meters import CHECK_EVERY_S, StreamMeters
from onlooker.settings import Settings
from onlooker_pipeline.catalogue import read_catalogue
from onlooker_pipeline.service_call import FrameQuality, Sender
from onlooker_pipeline.versions import read_versions
from testkit import migrated_database

STREAMS = 20
FRAMES_PER_SECOND = 5
READ_ROWS = """
SELECT sum(n_tup_ins + n_tup_upd) FROM pg_stat_user_tables
WHERE relname IN ('streams_usage', 'streams_coverage', 'streams_quality', 'streams_blindness', 'streams_refusal',
                  'streams_picturecondition')
"""


def measure_meters(seconds: float) -> dict[str, float]:
    """Rows of a stream in a minute. Before, everything was written at each look."""

    async def run() -> list[float]:
        ways = (CHECK_EVERY_S, Settings().meters_every_s)
        return await asyncio.gather(*(asyncio.to_thread(_measure, pause_s, seconds) for pause_s in ways))

    return dict(zip(("before", "after"), asyncio.run(run()), strict=True))


def _measure(every_s: float, seconds: float) -> float:
    with migrated_database() as url, psycopg.connect(url, autocommit=True) as connection:
        streams = [row[0] for row in connection.execute(MAKE_STREAMS, [STREAMS]).fetchall()]
        asyncio.run(_film(Settings(database_url=url, meters_every_s=every_s), streams, seconds))
        time.sleep(1.5)  # until the connections that are closed have reported what they did
        rows = connection.execute(READ_ROWS).fetchone()
    assert rows
    return float(rows[0]) / STREAMS / (seconds / 60)


async def _film(settings: Settings, streams: list[int], seconds: float) -> None:
    async with open_pool(settings) as pool:
        await _count_frames(pool, settings, streams, seconds)


async def _count_frames(pool: Pool, settings: Settings, streams: list[int], seconds: float) -> None:
    meters = StreamMeters(pool, settings)
    writing = asyncio.create_task(meters.run())
    service = read_catalogue()["scene_analysis"][1]
    quality, versions = FrameQuality(is_dark=False, face_bins=[4, 6]), read_versions()
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        now = time.time()
        for stream_id in streams:
            task = Task(uuid.uuid4().hex, service.name, service.version, {"store": True}, {}, "session", now + 30,
                        "request", now, now, Sender(stream_id))  # fmt: skip
            reply = Reply(Outcome.DONE, video_s=1 / FRAMES_PER_SECOND, frame_at=now, quality=quality, versions=versions)
            meters.count_reply(stream_id, service, task, reply)
        await asyncio.sleep(1 / FRAMES_PER_SECOND)
    writing.cancel()
    await asyncio.wait([writing])
