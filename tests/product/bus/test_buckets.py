"""Key-value buckets: compare-and-set, removal, and what a key's absence looks like."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable

import pytest

from onlooker.bus.buckets import Bucket, Entry, WrongRevision
from onlooker.bus.connection import Bus, connect
from onlooker.bus.subjects import SESSION_STATES, shard_of
from onlooker.settings import Settings
from testkit import Stack


def settings_of(stack: Stack, user: str) -> Settings:
    return Settings(nats_url=stack.setting("nats_url"), nats_user=user, nats_password=stack.password(user))


def with_bus(stack: Stack, test: Callable[[Bus], Awaitable[None]]) -> None:
    async def run() -> None:
        bus = await connect(settings_of(stack, "gateway"), name="test")
        try:
            await test(bus)
        finally:
            await bus.close()

    asyncio.run(run())


def test_a_key_that_never_was_is_none(stack: Stack) -> None:
    async def check(bus: Bus) -> None:
        assert await Bucket(bus, SESSION_STATES, shards=1).get(uuid.uuid4().hex) is None

    with_bus(stack, check)


@pytest.mark.parametrize("from_leader", [False, True])
def test_replace_takes_only_the_newest_revision(stack: Stack, from_leader: bool) -> None:
    async def check(bus: Bus) -> None:
        bucket, key = Bucket(bus, SESSION_STATES, shards=1, from_leader=from_leader), uuid.uuid4().hex
        first = await bucket.replace(key, b"one", revision=0)
        second = await bucket.replace(key, b"two", revision=first)
        with pytest.raises(WrongRevision):
            await bucket.replace(key, b"three", revision=first)
        with pytest.raises(WrongRevision):
            await bucket.replace(key, b"three", revision=0)
        assert await bucket.get(key) == Entry(b"two", second)

    with_bus(stack, check)


@pytest.mark.parametrize("from_leader", [False, True])
def test_a_removed_key_is_empty_and_can_be_written_again_from_its_revision(stack: Stack, from_leader: bool) -> None:
    async def check(bus: Bus) -> None:
        bucket, key = Bucket(bus, SESSION_STATES, shards=1, from_leader=from_leader), uuid.uuid4().hex
        written = await bucket.put(key, b"one")
        await bucket.remove(key)
        with pytest.raises(WrongRevision):
            await bucket.replace(key, b"two", revision=written)
        entry = await bucket.get(key)
        assert entry is not None
        assert entry.value == b""
        await bucket.replace(key, b"two", revision=entry.revision)

    with_bus(stack, check)


def test_keys_spread_over_the_shards() -> None:
    shards = [shard_of(SESSION_STATES, uuid.uuid4().hex, 4) for _ in range(400)]
    assert set(shards) == {f"session-states-{index}" for index in range(4)}
    assert min(shards.count(shard) for shard in set(shards)) > 50
