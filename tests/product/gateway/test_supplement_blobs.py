"""Supplement, jobs: what is kept in the blob store, a folder or an S3 bucket, and that it does not stay."""

import asyncio
import os
import time
import uuid
from collections.abc import Iterator

import httpx2
import obstore
import pytest

from clients import client_of
from onlooker.gateway.blobstore import BlobStore, open_store
from onlooker.gateway.queue.cleanup import remove_expired_blobs, remove_orphans
from onlooker.settings import Settings, read_settings
from recorder_process import with_pool
from seaweedfs import StoredStack
from testkit import Stack
from wire import assert_problem, finished, measure, paused, store_blob, wait_for

pytest_plugins = ["stacks"]


@pytest.fixture
def owner(stored: StoredStack) -> Iterator[httpx2.Client]:
    with client_of(stored.stack, stored.stack.create_stream()) as made:
        yield made


def settings_of(stack: Stack) -> Settings:
    return read_settings({name: value for name, value in stack.environment.items() if name.startswith("ONLOOKER_")})


def test_get_of_a_blobs_bytes_is_offered_to_its_owner(owner: httpx2.Client) -> None:
    """`GET` of a blob's bytes ... served as octet-stream, `Content-Disposition: attachment`, `nosniff`."""
    answer = owner.get(store_blob(owner, b"<script>alert(1)</script>").json()["url"])
    assert (answer.status_code, answer.content) == (200, b"<script>alert(1)</script>")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_delete_of_a_blob_removes_its_bytes(stored: StoredStack, owner: httpx2.Client) -> None:
    """`DELETE` of a job or a blob ... are offered to their owner."""
    body = store_blob(owner).json()
    path = f"blobs/{body['uuid']}"
    assert path in stored.paths("blobs")
    assert owner.delete(body["url"]).status_code == 204
    assert path not in stored.paths("blobs")
    assert_problem(owner.get(body["url"]), 404, "not_found")
    assert_problem(owner.delete(body["url"]), 404, "not_found")


@pytest.mark.parametrize("flag", [True, False, "x", None])
def test_async_in_a_blobs_meta_is_accepted_and_ignored(owner: httpx2.Client, flag: object) -> None:
    """`async` in a blob's meta is accepted and ignored."""
    answer = store_blob(owner, **{"async": flag})
    assert (answer.status_code, owner.get(answer.json()["url"]).content) == (201, b"pixels")


def test_a_blob_answers_its_location(owner: httpx2.Client) -> None:
    """A blob's creation answer: `Location` holds its URL, as for jobs."""
    answer = store_blob(owner)
    assert answer.headers["location"] == answer.json()["url"]


def test_a_blob_of_another_stream_does_not_exist(stored: StoredStack, owner: httpx2.Client) -> None:
    """... one that belongs to another stream | 404 | `not_found`."""
    url = store_blob(owner).json()["url"]
    with client_of(stored.stack, stored.stack.create_stream()) as other:
        never = other.get(f"/blobs/{uuid.uuid4()}")
        assert assert_problem(other.get(url), 404, "not_found") == never.json()
        assert assert_problem(other.delete(url), 404, "not_found") == never.json()
    assert owner.get(url).status_code == 200


def test_attachments_of_an_async_job_are_gone_from_the_store_when_it_has_ended(
    stored: StoredStack, owner: httpx2.Client
) -> None:
    """An accepted job's attachments wait in the store, and only until the job ends."""
    made = measure(owner, b"waits", **{"async": True}).json()
    assert finished(owner, made["url"]).json()["size"] == 5
    prefix = f"jobs/{uuid.UUID(made['uuid']).hex}"
    wait_for(lambda: stored.paths(prefix), lambda paths: not paths, limit_s=3)


def test_attachments_wait_in_the_store_until_the_job_is_deleted(stored: StoredStack, owner: httpx2.Client) -> None:
    """An accepted job's attachments wait as long as the job does; `DELETE` of the job removes them too."""
    with paused(stored.stack, "dispatcher"):
        made = measure(owner, b"waits", **{"async": True}).json()
        path = f"jobs/{uuid.UUID(made['uuid']).hex}/image"
        assert path in stored.paths("jobs")
        assert owner.get(made["url"]).status_code == 202
        assert owner.delete(made["url"]).status_code == 204
        assert path not in stored.paths("jobs")


def test_a_refused_async_job_leaves_nothing_in_the_store(stored: StoredStack, owner: httpx2.Client) -> None:
    """missing or wrong field | 400: nothing of a refused job waits anywhere."""
    before = stored.paths("jobs")
    assert_problem(measure(owner, timestamp="never", **{"async": True}), 400, "bad_request")
    assert stored.paths("jobs") <= before


def test_an_orphan_is_swept_and_a_waiting_attachment_is_not(stored: StoredStack) -> None:
    """Attachments whose job was never committed do not stay; those younger than a job's time limit do."""
    settings = settings_of(stored.stack)
    blobs = BlobStore(open_store(settings))
    orphan = f"jobs/{uuid.uuid4().hex}/image"
    obstore.put(stored.store, orphan, b"left behind")
    asyncio.run(remove_orphans(settings, blobs))
    assert orphan in stored.paths("jobs")
    passed = Settings(async_time_limit_s=-70)  # as if all time limits had passed
    asyncio.run(remove_orphans(passed, blobs))
    assert orphan not in stored.paths("jobs")


def test_an_expired_blob_is_swept_out_of_the_store_and_no_other(stored: StoredStack, owner: httpx2.Client) -> None:
    """A blob is kept 24 hours by default: then it is not found, and its bytes and its row are removed."""
    kept, expired = store_blob(owner).json(), store_blob(owner).json()
    stored.stack.execute("UPDATE gateway_blob SET expires_at = now() WHERE blob_id = %s", expired["uuid"])
    assert_problem(owner.get(expired["url"]), 404, "not_found")
    assert_problem(measure(owner, image=expired["url"]), 404, "not_found")
    settings = settings_of(stored.stack)
    blobs = BlobStore(open_store(settings))
    with_pool(settings.database_url, lambda pool: remove_expired_blobs(pool, blobs))
    assert f"blobs/{expired['uuid']}" not in stored.paths("blobs")
    rows = "SELECT count(*) FROM gateway_blob WHERE blob_id = %s"
    assert stored.stack.execute(rows, expired["uuid"]) == [(0,)]
    assert owner.get(kept["url"]).content == b"pixels"


def test_jobs_that_have_ended_leave_no_folders(stack: Stack, client: httpx2.Client) -> None:
    """Attachments are removed when the job ends, and with the last one the folder that they were in."""
    jobs = [measure(client, **{"async": True}).json() for _ in range(10)]
    for job in jobs:
        assert finished(client, job["url"]).status_code == 200
    folders = [stack.home / "blobs" / "jobs" / uuid.UUID(job["uuid"]).hex for job in jobs]
    wait_for(lambda: [folder for folder in folders if folder.exists()], lambda left: not left)


def test_what_was_left_behind_is_removed_when_a_dispatcher_starts(brief_stack: Stack) -> None:
    """Attachments whose job was never committed, older than any job lives, and empty folders; nothing else."""
    jobs = brief_stack.home / "blobs" / "jobs"
    empty, left, waiting = (jobs / uuid.uuid4().hex for _ in range(3))
    for folder in (empty, left, waiting):
        folder.mkdir(parents=True)
    old, young = left / "image", waiting / "image"
    for path in (old, young):
        path.write_bytes(b"pixels")
    long_ago = time.time() - 3600
    os.utime(old, (long_ago, long_ago))
    assert brief_stack.kill("dispatcher")
    wait_for(lambda: empty.exists() or old.exists(), lambda there: not there, limit_s=20)
    assert young.exists()
