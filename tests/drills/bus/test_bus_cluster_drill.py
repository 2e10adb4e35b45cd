"""A bus of three servers: kept on all of them, reached by any, and with certificates."""

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import nats
import pytest
from nats.js.api import StreamConfig
from nats.js.client import JetStreamContext

from onlooker.bus import counters
from onlooker.bus.bucket_setup import disk_needed
from onlooker.bus.bucket_usage import BucketWatch, WatchedBucket
from onlooker.bus.buckets import Bucket, Entry, PastEntry
from onlooker.bus.connection import Bus, BusError, connect, publish_kept
from onlooker.bus.subjects import RESULTS, VISITS, visits_subject
from onlooker.bus.visit_stream import prepare_visit_stream
from onlooker.settings import Settings
from onlooker.up.nats_server import find_program
from testkit import free_ports

SERVERS = 3


@dataclass
class Cluster:
    """Its addresses, as the setting has them, and its processes."""

    url: str
    servers: list[subprocess.Popen[bytes]]

    def settings(self, **more: Any) -> Settings:
        return Settings(nats_url=self.url, **more)


@contextmanager
def cluster_of(folder: Path, tls: dict[str, Any] | None = None) -> Iterator[Cluster]:
    """Three servers of a bus of its own, without passwords."""
    ports, routes = free_ports(SERVERS), free_ports(SERVERS)
    servers = []
    for number, (port, route) in enumerate(zip(ports, routes, strict=True)):
        configuration = {
            "listen": f"127.0.0.1:{port}",
            "server_name": f"bus-{number}",
            "jetstream": {"store_dir": str(folder / str(number)), "max_file_store": disk_needed(Settings()) + 2**32},
            "cluster": {
                "name": "onlooker",
                "listen": f"127.0.0.1:{route}",
                "routes": [f"nats://127.0.0.1:{other}" for other in routes],
            },
        } | ({"tls": tls} if tls else {})
        file = folder / f"{number}.conf"
        file.write_text(json.dumps(configuration))
        command = [find_program(Settings()), "-c", str(file)]
        servers.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
    try:
        yield Cluster(", ".join(f"nats://127.0.0.1:{port}" for port in ports), servers)
    finally:
        for server in servers:
            server.kill()
            server.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with cluster_of(tmp_path) as found:
        yield found


async def prepared(cluster: Cluster, settings: Settings) -> tuple[JetStreamContext, nats.NATS]:
    """The stream of visits as these settings want it, once the servers have found each other."""

    async def ignore(_: Exception) -> None:
        """They may still be starting."""

    client = await nats.connect(cluster.url.split(", "), error_cb=ignore, max_reconnect_attempts=100)
    jetstream = client.jetstream(timeout=5)
    await until_prepared(jetstream, settings)
    return jetstream, client


async def until_prepared(jetstream: JetStreamContext, settings: Settings) -> None:
    """A stream that gets more replicas has no leader for a while."""
    give_up_at = time.monotonic() + 60
    while True:
        try:
            return await prepare_visit_stream(jetstream, settings)
        except nats.errors.Error:
            assert time.monotonic() < give_up_at
            await asyncio.sleep(0.2)


async def leader_of(jetstream: JetStreamContext) -> int:
    """Its number, once the stream has one and all replicas are up to date."""
    give_up_at = time.monotonic() + 60
    while time.monotonic() < give_up_at:
        found = (await jetstream.stream_info(VISITS)).cluster
        if found and found.leader and all(replica.current for replica in found.replicas or []):
            return int(found.leader.rpartition("-")[2])
        await asyncio.sleep(0.1)
    raise AssertionError("no leader")


def test_replicas_are_raised_by_the_setting_and_never_lowered(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        jetstream, client = await prepared(cluster, cluster.settings(bus_replicas=1))
        for setting, expected in ((1, 1), (3, 3), (1, 3)):
            await until_prepared(jetstream, cluster.settings(bus_replicas=setting))
            await leader_of(jetstream)
            config: StreamConfig = (await jetstream.stream_info(VISITS)).config
            assert config.num_replicas == expected
        await client.close()

    asyncio.run(run())
    assert "replicas stay as they are" in caplog.text


def test_what_is_kept_by_three_servers_outlives_the_death_of_their_leader(cluster: Cluster) -> None:
    """A publisher goes on over the servers that are left, and everything that was confirmed is there."""

    async def publish(bus: Bus, number: int) -> float:
        """How long it took until it was confirmed."""
        started = time.monotonic()
        while True:
            try:
                await publish_kept(bus, visits_subject(7), str(number).encode())
            except BusError:
                await asyncio.sleep(0.05)
            else:
                return time.monotonic() - started

    async def run() -> None:
        settings = cluster.settings(bus_replicas=3)
        jetstream, client = await prepared(cluster, settings)
        bus = await connect(settings, name="test")
        await publish(bus, 0)
        leader = cluster.servers[await leader_of(jetstream)]
        leader.kill()
        leader.wait()
        taken = [await publish(bus, number) for number in range(1, 50)]
        assert max(taken) < 15
        kept = {int((await jetstream.get_msg(VISITS, number)).data) for number in range(1, 51)}
        assert kept == set(range(50))
        await bus.close()
        await client.close()

    asyncio.run(run())


def test_a_record_is_read_from_its_leader_as_soon_as_it_is_written(cluster: Cluster) -> None:
    """Whichever server a reader is connected to. A replica that lags would say that there is none."""

    async def run() -> None:
        settings = cluster.settings(bus_replicas=3)
        _, client = await prepared(cluster, settings)
        config = StreamConfig(name="KV_results-0", subjects=["$KV.results-0.>"], num_replicas=3, allow_direct=True)
        await client.jetstream(timeout=5).add_stream(config)
        alone = [msgspec.structs.replace(settings, nats_url=url) for url in cluster.url.split(", ")]
        buses = [await connect(one, name="test") for one in alone]
        buckets = [Bucket(bus, RESULTS, shards=1, from_leader=True) for bus in buses]
        for number in range(150):
            key, value = f"7.{number}", str(number).encode()
            revision = await buckets[number % SERVERS].put(key, value)
            assert [await bucket.get(key) for bucket in buckets] == [Entry(value, revision)] * SERVERS
            assert await buckets[0].get_past(0, revision) == PastEntry(key, value)
        assert await buckets[0].get("7.none") is None
        for bus in buses:
            await bus.close()
        await client.close()

    asyncio.run(run())


def test_a_stream_that_lost_its_leader_is_measured_as_such(cluster: Cluster) -> None:
    """Two of the three servers that keep it are dead: the third leads nothing."""

    async def run() -> None:
        settings = cluster.settings(bus_replicas=3)
        jetstream, client = await prepared(cluster, settings)
        leader = await leader_of(jetstream)
        alone = settings_of_server(settings, (leader + 1) % SERVERS)
        bus = await connect(alone, name="test")
        watch = BucketWatch(bus, settings)
        watch._buckets = [WatchedBucket("visits", VISITS, "visits_disk_bytes")]
        await watch.measure()
        assert counters.bucket_leader("visits")._value.get() == 1
        for number in (leader, (leader + 2) % SERVERS):
            cluster.servers[number].kill()
            cluster.servers[number].wait()
        give_up_at = time.monotonic() + 60
        while counters.bucket_leader("visits")._value.get() and time.monotonic() < give_up_at:
            await watch.measure()
        assert counters.bucket_leader("visits")._value.get() == 0
        await bus.close()
        await client.close()

    asyncio.run(run())


def settings_of_server(settings: Settings, number: int) -> Settings:
    """For a process that knows one server only."""
    return msgspec.structs.replace(settings, nats_url=settings.nats_url.split(", ")[number])
