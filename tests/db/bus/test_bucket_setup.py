"""Making the buckets: at every start, over what an earlier release or other settings left."""

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import nats
from nats.js.api import StorageType, StreamConfig
from nats.js.client import JetStreamContext

from onlooker.bus.bucket_setup import KEY_BUCKETS, disk_needed, kept_s, period_s, prepare_buckets
from onlooker.settings import Settings
from onlooker.up.nats_server import find_program
from testkit import free_ports

Check = Callable[[JetStreamContext], Awaitable[None]]


def with_jetstream(folder: Path, check: Check) -> None:
    """A bus of its own, without passwords, whose files are in the folder."""
    port = free_ports(1)[0]
    configuration = folder / "nats.conf"
    limits = {"store_dir": str(folder / "files"), "max_file_store": disk_needed(Settings(bucket_shards=2)) + 1024**3}
    configuration.write_text(json.dumps({"listen": f"127.0.0.1:{port}", "jetstream": limits}))
    server = subprocess.Popen([find_program(Settings()), "-c", str(configuration)], stderr=subprocess.DEVNULL)

    async def run() -> None:
        async def ignore(_: Exception) -> None:
            """It may still be starting."""

        client = await nats.connect(f"nats://127.0.0.1:{port}", error_cb=ignore, max_reconnect_attempts=100)
        try:
            await check(client.jetstream(timeout=10))
        finally:
            await client.close()

    try:
        asyncio.run(run())
    finally:
        server.kill()
        server.wait()


def is_in_files(folder: Path, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in (folder / "files").rglob("*") if path.is_file())


async def names(jetstream: JetStreamContext) -> set[str]:
    return {str(info.config.name) for info in await jetstream.streams_info()}


def test_states_that_an_earlier_release_left_unsealed_leave_the_files(tmp_path: Path) -> None:
    async def check(jetstream: JetStreamContext) -> None:
        for shard in range(2):
            config = StreamConfig(
                name=f"KV_sessions-{shard}", subjects=[f"$KV.sessions-{shard}.>"], storage=StorageType.FILE
            )
            await jetstream.add_stream(config)
            await jetstream.publish(f"$KV.sessions-{shard}.1.dummy-1.x", b"where people are")
        assert is_in_files(tmp_path, b"where people are")
        await prepare_buckets(jetstream, Settings())
        assert not {"KV_sessions-0", "KV_sessions-1"} & await names(jetstream)
        assert not is_in_files(tmp_path, b"where people are")

    with_jetstream(tmp_path, check)


def test_preparing_again_changes_nothing(tmp_path: Path) -> None:
    async def check(jetstream: JetStreamContext) -> None:
        await prepare_buckets(jetstream, Settings())
        before = await names(jetstream)
        subjects = ["$KV.session-states-0.x", "$KV.session-keys-3.x", "$KV.results-0.x", "$KV.feeds-0.x"]
        for subject in subjects:
            await jetstream.publish(subject, b"kept")
        await prepare_buckets(jetstream, Settings())
        assert await names(jetstream) == before
        for subject in subjects:
            assert (await jetstream.get_last_msg(f"KV_{subject.split('.')[1]}", subject)).data == b"kept"

    with_jetstream(tmp_path, check)


def test_buckets_that_have_no_use_any_more_go_and_other_streams_stay(tmp_path: Path) -> None:
    async def check(jetstream: JetStreamContext) -> None:
        await jetstream.add_stream(StreamConfig(name="KV_mine", subjects=["mine"]))
        await prepare_buckets(jetstream, Settings(bucket_shards=2))
        assert "KV_session-states-1" in await names(jetstream)
        await prepare_buckets(jetstream, Settings(bucket_shards=1))
        left = await names(jetstream)
        assert not {"KV_session-states-1", "KV_results-1"} & left
        assert {"KV_mine", "KV_session-states-0", "KV_results-0", "KV_session-keys-1"} <= left

    with_jetstream(tmp_path, check)


def test_keys_for_other_times_go(tmp_path: Path) -> None:
    """They would end too early for what is sealed with them from now on."""

    async def check(jetstream: JetStreamContext) -> None:
        await prepare_buckets(jetstream, Settings())
        await jetstream.publish("$KV.session-keys-3.x", b"a key of a minute")
        await prepare_buckets(jetstream, Settings(session_result_retention_s=3600))
        info = await jetstream.stream_info("KV_session-keys-3")
        assert (info.state.messages, info.config.max_age) == (0, 3600 + 2 * 240)

    with_jetstream(tmp_path, check)


def test_a_bucket_of_keys_is_empty_before_its_next_turn() -> None:
    for settings in (
        Settings(),
        Settings(session_result_retention_s=1, session_idle_s=1),
        Settings(session_idle_s=7200),
    ):
        longest_s = period_s(settings) + kept_s(settings)
        assert (KEY_BUCKETS - 1) * period_s(settings) >= longest_s + period_s(settings)
    assert period_s(Settings()) + kept_s(Settings()) == 16 * 60
