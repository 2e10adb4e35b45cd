"""Fixtures of further running stacks; a test module that uses them says `pytest_plugins = ["stacks"]`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial

import pytest
from obstore.store import LocalStore

from coverage_frames import QUOTA_S
from gateway_process import running_gateway
from seaweedfs import S3Server, StoredStack, running_seaweedfs
from testkit import Stack, migrated_database, running_stack


@pytest.fixture(scope="session")
def brief_stack() -> Iterator[Stack]:
    """Short times, small capacity, and the rate limit as it is by default; a database of its own."""
    with (
        migrated_database() as database_url,
        running_stack(
            database_url,
            extra_services="extra.measure,extra.trouble,extra.unhosted",
            worker_services="dummy,measure,trouble",
            https_host="0.0.0.0",
            worker_queue_limit=1,
            async_time_limit_s=3,
            result_retention_s=2,
            session_result_retention_s=1,
            session_idle_s=1,
            blob_retention_s=2,
        ) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def watched_stack() -> Iterator[Stack]:
    """Frames whose coverage is kept, small limits, and a quota that a test can use up."""
    with (
        migrated_database() as database_url,
        running_stack(
            database_url,
            extra_services="extra.watch,extra.unhosted,extra.measure,extra.passer",
            worker_services="watch,measure,passer",
            rate_limit_per_second=30,
            rate_limit_burst=60,
            credential_cache_s=0.3,
            body_limit_bytes=100_000,
            body_time_limit_s=1,
            async_time_limit_s=3,
            feed_idle_s=3,
            developer_quota_s=QUOTA_S,
        ) as running,
    ):
        yield running


@pytest.fixture
def another_gateway(watched_stack: Stack) -> Callable[[], AbstractContextManager[str]]:
    """Starts a gateway beside the watched stack's own, for as long as the block lasts; gives its address."""
    return partial(running_gateway, watched_stack)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    with running_seaweedfs() as server:
        yield server


@pytest.fixture(scope="session")
def s3_stack(s3_server: S3Server) -> Iterator[Stack]:
    """A stack that keeps its bytes in an S3 bucket, below a prefix."""
    with (
        migrated_database() as database_url,
        running_stack(
            database_url,
            extra_services="extra.measure,extra.trouble",
            rate_limit_per_second=10_000,
            rate_limit_burst=10_000,
            blob_store_url=f"s3://{s3_server.bucket}/some/prefix",
            s3_endpoint=s3_server.endpoint,
            s3_access_key=s3_server.access_key,
            s3_secret_key=s3_server.secret_key,
        ) as running,
    ):
        yield running


@pytest.fixture(scope="session", params=["folder", "s3"])
def stored(request: pytest.FixtureRequest) -> StoredStack:
    """A stack with each kind of blob store in turn."""
    if request.param == "folder":
        stack: Stack = request.getfixturevalue("stack")
        return StoredStack(stack, LocalStore(stack.home / "blobs"))
    server: S3Server = request.getfixturevalue("s3_server")
    return StoredStack(request.getfixturevalue("s3_stack"), server.store("some/prefix"))


@pytest.fixture(scope="session")
def second_gateway(stack: Stack) -> Iterator[str]:
    """The address of another gateway on the bus, database and blob folder of the shared stack."""
    with running_gateway(stack) as url:
        yield url
