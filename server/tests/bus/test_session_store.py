"""Sealed session states: what one process seals another opens, until the keys are destroyed."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from onlooker.bus.buckets import Bucket, Entry, PastEntry, WrongRevision
from onlooker.bus.connection import Bus, connect
from onlooker.bus.session_store import SessionBucket, sealed_name
from onlooker.bus.subjects import SESSION_STATES
from onlooker.settings import Settings
from testkit import Stack

Check = Callable[[SessionBucket, SessionBucket, SessionBucket], Awaitable[None]]


def with_buckets(stack: Stack, check: Check) -> None:
    """The bucket as two processes of a worker and a gateway have it."""

    async def open_bus(user: str) -> Bus:
        settings = Settings(nats_url=stack.setting("nats_url"), nats_user=user, nats_password=stack.password(user))
        return await connect(settings, name="test")

    async def run() -> None:
        async with AsyncExitStack() as leaving:
            buckets = []
            for user in ("worker-1", "worker-1", "gateway"):
                bus = await open_bus(user)
                leaving.push_async_callback(bus.close)
                buckets.append(SessionBucket(bus, Settings()))
            await check(*buckets)

    asyncio.run(run())


def new_session() -> str:
    return f"1.dummy-1.{uuid.uuid4().hex}"


def test_what_one_process_seals_another_opens(stack: Stack) -> None:
    async def check(one: SessionBucket, other: SessionBucket, gateway: SessionBucket) -> None:
        session = new_session()
        first = await one.replace(session, b"first", revision=0)
        assert await other.get(session) == Entry(b"first", first)
        second = await other.replace(session, b"second", revision=first)
        with pytest.raises(WrongRevision):
            await one.replace(session, b"third", revision=first)
        assert await one.get(session) == Entry(b"second", second)
        shard = gateway.shard(session)
        assert await gateway.get_past(shard, first) == PastEntry(session, b"first")
        assert await gateway.get_past(shard, second) == PastEntry(session, b"second")

    with_buckets(stack, check)


def test_nothing_of_a_removed_session_can_be_opened(stack: Stack) -> None:
    async def check(one: SessionBucket, other: SessionBucket, gateway: SessionBucket) -> None:
        session = new_session()
        first = await one.replace(session, b"first", revision=0)
        await gateway.remove(session)
        assert await gateway.get_past(gateway.shard(session), first) is None
        removed = await other.get(session)
        assert removed is not None
        assert removed.value == b""

    with_buckets(stack, check)


def test_a_process_that_still_holds_a_destroyed_key_seals_with_another(stack: Stack) -> None:
    async def check(one: SessionBucket, other: SessionBucket, gateway: SessionBucket) -> None:
        session = new_session()
        first = await one.replace(session, b"first", revision=0)
        await gateway.remove(session)
        with pytest.raises(WrongRevision):
            await one.replace(session, b"late", revision=first)
        removed = await one.get(session)
        assert removed
        again = await one.replace(session, b"again", revision=removed.revision)
        assert await other.get(session) == Entry(b"again", again)

    with_buckets(stack, check)


def test_a_state_whose_keys_are_gone_counts_as_removed(stack: Stack) -> None:
    """So that the session begins again, over the revision that is there."""

    async def check(one: SessionBucket, other: SessionBucket, gateway: SessionBucket) -> None:
        session = new_session()
        first = await one.replace(session, b"first", revision=0)
        await gateway.destroy(session)
        assert await other.get(session) == Entry(b"", first)
        second = await other.replace(session, b"second", revision=first)
        assert await gateway.get(session) == Entry(b"second", second)

    with_buckets(stack, check)


def test_bytes_that_nobody_sealed_count_as_removed(stack: Stack) -> None:
    async def check(one: SessionBucket, other: SessionBucket, gateway: SessionBucket) -> None:
        session = new_session()
        await one.replace(session, b"first", revision=0)
        plain = Bucket(one._keys._bus, SESSION_STATES, shards=1)
        for foreign in (b"x", b"\0" * 16, b"\0" * 100):
            revision = await plain.put(sealed_name(session), foreign)
            assert await other.get(session) == Entry(b"", revision)

    with_buckets(stack, check)
