"""Sealed session states: what one process seals another opens, until the keys are destroyed."""

import asyncio
import uuid
import zlib
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.bus.buckets import Bucket, Entry, PastEntry, WrongRevision
from onlooker.bus.connection import Bus, connect
from onlooker.bus.session_store import (
    COMPRESSED,
    STATE_LIMIT_BYTES,
    WORTH_BYTES,
    SessionBucket,
    SessionState,
    compress_state,
    decompress_state,
    encode_state,
    sealed_name,
)
from onlooker.bus.subjects import SESSION_STATES
from onlooker.settings import Settings
from testkit import Stack

Check = Callable[[SessionBucket, SessionBucket, SessionBucket], Awaitable[None]]


def with_buckets(stack: Stack, check: Check, *, compression: str = "") -> None:
    """The bucket as two processes of a worker, the first with this setting, and a gateway have it."""

    async def open_bus(user: str) -> Bus:
        settings = Settings(nats_url=stack.setting("nats_url"), nats_user=user, nats_password=stack.password(user))
        return await connect(settings, name="test")

    async def run() -> None:
        async with AsyncExitStack() as leaving:
            buckets = []
            for user, state_compression in (("worker-1", compression), ("worker-1", ""), ("gateway", "")):
                bus = await open_bus(user)
                leaving.push_async_callback(bus.close)
                buckets.append(SessionBucket(bus, Settings(state_compression=state_compression)))
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


def test_a_compressed_state_is_smaller_and_read_by_every_process(stack: Stack) -> None:
    job_ids = [uuid.uuid4().hex for _ in range(16)]
    state = encode_state(SessionState(1.0, job_ids=job_ids, result=b'{"entities":{}}' * 90))

    async def check(one: SessionBucket, other: SessionBucket, gateway: SessionBucket) -> None:
        session = new_session()
        first = await one.replace(session, state, revision=0)
        assert await other.get(session) == Entry(state, first)
        assert await gateway.get_past(gateway.shard(session), first) == PastEntry(session, state)
        sealed = await Bucket(one._keys._bus, SESSION_STATES, shards=1).get(sealed_name(session))
        assert sealed
        assert len(sealed.value) < len(state) / 2

    with_buckets(stack, check, compression="on")


@pytest.mark.parametrize("compression", ["", "off"])
def test_a_state_is_written_as_older_releases_read_it_unless_told_otherwise(stack: Stack, compression: str) -> None:
    state = encode_state(SessionState(1.0, result=b"{}" * 1000))

    async def check(one: SessionBucket, other: SessionBucket, gateway: SessionBucket) -> None:
        session = new_session()
        await one.replace(session, state, revision=0)
        sealed = await Bucket(one._keys._bus, SESSION_STATES, shards=1).get(sealed_name(session))
        assert sealed
        assert len(sealed.value) > len(state)

    with_buckets(stack, check, compression=compression)


@given(value=st.one_of(st.binary(max_size=2000), st.binary(max_size=40).map(lambda part: part * 100)))
def test_what_is_compressed_is_read_again(value: bytes) -> None:
    state = encode_state(SessionState(1.0, result=value))
    compressed = compress_state(state)
    assert decompress_state(compressed) == decompress_state(state) == state
    assert len(compressed) <= len(state)


def test_no_state_begins_like_a_compressed_one() -> None:
    """So that one of an older release is never taken for one."""
    assert not encode_state(SessionState(1.0)).startswith(COMPRESSED)
    assert len(encode_state(SessionState(1.0))) < WORTH_BYTES


def test_what_no_worker_compressed_is_unreadable() -> None:
    bomb = COMPRESSED + zlib.compress(bytes(STATE_LIMIT_BYTES + 1), 9, -15)
    whole = compress_state(encode_state(SessionState(1.0, result=b"{}" * 1000)))
    for foreign in (bomb, COMPRESSED, COMPRESSED + b"\xff\xff", whole[:-1]):
        assert decompress_state(foreign) is None
