"""Supplement, streams: what their credentials are, how they are kept, rotation and the memory of checks."""

import asyncio
import base64
import hashlib
import json
import subprocess
import sys
import uuid

import pytest

from clients import client_of
from onlooker.database import open_pool
from onlooker.settings import read_settings
from onlooker.streams import credentials
from onlooker.streams.credentials import Credentials, hash_access_token, new_access_token
from testkit import Stack, TestStream
from wire import wait_for


@pytest.fixture(scope="module")
def created(stack: Stack) -> TestStream:
    """A stream made as an owner makes it."""
    command = [sys.executable, "-m", "onlooker", "stream", "create", "door", "--json"]
    printed = subprocess.run(command, env=stack.environment, capture_output=True, check=True, timeout=30).stdout
    members = json.loads(printed)
    found = stack.execute("SELECT id FROM streams_stream WHERE client_id = %s", members["client_id"])
    return TestStream(found[0][0], **members)


def test_client_id_is_a_uuid(created: TestStream) -> None:
    """client_id: a UUID."""
    assert str(uuid.UUID(created.client_id)) == created.client_id


def test_access_token_is_256_random_bits(created: TestStream) -> None:
    """access_token: 256 random bits."""
    assert len(base64.urlsafe_b64decode(created.access_token + "=")) == 32
    assert len({new_access_token() for _ in range(100)}) == 100


def test_access_token_is_kept_only_as_its_sha_256(stack: Stack, created: TestStream) -> None:
    """... kept only as its SHA-256."""
    rows = stack.execute("SELECT * FROM streams_accesstoken WHERE stream_id = %s", created.id)
    assert len(rows) == 1
    assert hashlib.sha256(created.access_token.encode()).digest() in [bytes(v) for v in rows[0] if type(v) is bytes]
    stream_row = stack.execute("SELECT to_jsonb(stream)::text FROM streams_stream stream WHERE id = %s", created.id)
    assert created.access_token not in str(rows) + str(stream_row)


def test_a_created_stream_works_at_once(stack: Stack, created: TestStream) -> None:
    """Creating a stream generates a client_id and an access_token."""
    with client_of(stack, created) as client:
        assert client.get("/services").status_code == 200


def _add_token(stack: Stack, stream: TestStream, expires: str | None) -> TestStream:
    token = new_access_token()
    insert = "INSERT INTO streams_accesstoken (stream_id, sha256, created_at, expires_at) VALUES (%s, %s, now(), "
    stack.execute(
        insert + (f"now() + interval '{expires}')" if expires else "NULL)"), stream.id, hash_access_token(token)
    )
    return TestStream(stream.id, stream.client_id, token)


def test_after_rotation_the_old_token_works_for_its_grace_time(stack: Stack) -> None:
    """After rotation the old one works for a grace time the owner chooses (0 to 24 h)."""
    stream = stack.create_stream()
    stack.execute("DELETE FROM streams_accesstoken WHERE stream_id = %s", stream.id)
    old, new = _add_token(stack, stream, "0.8 seconds"), _add_token(stack, stream, None)
    over = _add_token(stack, stream, "-1 second")
    with client_of(stack, old) as client, client_of(stack, new) as other, client_of(stack, over) as late:
        assert late.get("/services").status_code == 401
        assert client.get("/services").status_code == 200
        wait_for(lambda: client.get("/services").status_code, lambda status: status == 401, limit_s=3)
        assert other.get("/services").status_code == 200


def test_failures_are_remembered_too(stack: Stack) -> None:
    """Failures are cached too: a client_id that was unknown stays so for a moment, then is looked up again."""
    stream = stack.create_stream()
    later = TestStream(stream.id, str(uuid.uuid4()), stream.access_token)
    with client_of(stack, later) as client:
        assert client.get("/services").status_code == 401
        stack.execute("UPDATE streams_stream SET client_id = %s WHERE id = %s", later.client_id, stream.id)
        assert client.get("/services").status_code == 401
        wait_for(lambda: client.get("/services").status_code, lambda status: status == 200, limit_s=3)


def test_a_wrong_token_does_not_spoil_the_right_one(stack: Stack, stream: TestStream) -> None:
    """Failures are cached too: only the failing credentials fail."""
    with client_of(stack, TestStream(stream.id, stream.client_id, "wrong")) as wrong, client_of(stack, stream) as right:
        for _ in range(3):
            assert wrong.get("/services").status_code == 401
            assert right.get("/services").status_code == 200


def test_the_memory_of_checks_is_bounded(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures are cached too, in a bounded cache."""
    monkeypatch.setattr(credentials, "CACHE_SIZE", 10)
    settings = read_settings({k: v for k, v in stack.environment.items() if k.startswith("ONLOOKER_")})

    async def check_many() -> int:
        async with open_pool(settings) as pool:
            checks = Credentials(pool, remember_s=60)
            for _ in range(25):
                assert await checks.check(str(uuid.uuid4()), "token") is None
            return len(checks._cache)

    assert asyncio.run(check_many()) == 10
