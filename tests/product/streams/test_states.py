"""The log of what a stream might do: enabled, disabled by its owner, or at its quota."""

import asyncio

from coverage_frames import QUOTA_S, run_cli, states_of
from onlooker.database import open_pool
from onlooker.settings import Settings
from onlooker.streams.state import StateLog
from testkit import Stack

pytest_plugins = ["stacks"]
USE = """INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, date_trunc('month', now()), %s)
         ON CONFLICT (stream_id, month) DO UPDATE SET video_s = excluded.video_s"""


def test_a_change_and_its_entry_are_one_transaction(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    run_cli(watched_stack, "stream", "set", stream.client_id, "--disabled")
    query = """SELECT change.xmin = stream.xmin FROM streams_statechange change
               JOIN streams_stream stream ON stream.id = change.stream_id WHERE stream.id = %s"""
    assert watched_stack.execute(query, stream.id) == [(True,)]


def test_many_gateways_at_once_write_one_entry(watched_stack: Stack) -> None:
    streams = [watched_stack.create_stream(kind="developer") for _ in range(5)]
    for stream in streams:
        watched_stack.execute(USE, stream.id, QUOTA_S)

    async def run() -> None:
        async with open_pool(Settings(database_url=watched_stack.setting("database_url"))) as pool:
            logs = [StateLog(pool, quota_s=QUOTA_S) for _ in range(6)]
            for log in logs:
                for stream in streams:
                    log.look_at(stream.id)
            await asyncio.gather(*(log.flush() for log in logs))

    asyncio.run(run())
    assert [states_of(watched_stack, stream.id) for stream in streams] == [["quota"]] * 5
