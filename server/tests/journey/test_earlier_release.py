"""The release before and this one side by side: on tables of today, in all combinations, and nothing is lost."""

import asyncio
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import msgspec
import psycopg
import pytest

from mixed_releases import MixedReleases, mixed_releases
from onlooker.bus.connection import connect, publish_kept
from onlooker.bus.subjects import visits_subject
from onlooker.migration_check import our_migrations
from onlooker.settings import Settings
from onlooker_pipeline.visits.visit import encode_visit
from recorder_process import visit
from testkit import Stack, TestStream, fresh_database, migrated_database
from wire import dummy, finished, multipart, wait_for

pytestmark = pytest.mark.timeout(300)

RELEASES = ("old", "new")
SESSIONS, FRAMES = 12, 5
PUBLISHED = 600


def create_stream(mixed: MixedReleases) -> TestStream:
    environment = {"ONLOOKER_DATABASE_URL": mixed.database_url}
    gateway = mixed.started["new gateway"]
    return Stack(mixed.folder, environment, gateway, mixed.folder / "new gateway.log").create_stream()


def send_session(client: httpx2.Client, number: int) -> list[int]:
    """A person who passes and leaves; how many frames the session knew at each of its frames."""
    state, began = {"session_id": str(uuid.uuid4())}, datetime.now(UTC) - timedelta(minutes=number)
    counted = []
    for frame in range(FRAMES):
        taken_at = (began + timedelta(seconds=frame)).isoformat()
        meta = {
            "image": "attachment://shot",
            "timestamp": taken_at,
            "leaves": frame == FRAMES - 1,
            "state": state,
            "async": False,
        }
        answer = client.post("/services/passer/1/jobs", files=multipart(meta, shot=b"pixels"))
        assert answer.status_code == 201, answer.text
        counted.append(answer.json()["frames"])
    return counted


def publish_visits(mixed: MixedReleases, stream_id: int) -> None:
    """More than one batch, so that both recorders get some."""
    url, user = f"nats://127.0.0.1:{mixed.nats_port}", "worker-old"
    settings = Settings(nats_url=url, nats_user=user, nats_password=mixed.password(user))

    async def run() -> None:
        bus = await connect(settings, name="test")
        visits = [msgspec.structs.replace(visit(stream_id), id=uuid.uuid4().bytes) for _ in range(PUBLISHED)]
        await asyncio.gather(*(publish_kept(bus, visits_subject(stream_id), encode_visit(one)) for one in visits))
        await bus.close()

    asyncio.run(run())


def count_visits(mixed: MixedReleases, stream_id: int) -> int:
    with psycopg.connect(mixed.database_url) as connection:
        row = connection.execute("SELECT count(*) FROM visits_visit WHERE stream_id = %s", [stream_id]).fetchone()
    assert row
    return int(row[0])


def test_processes_of_two_releases_work_side_by_side(tmp_path: Path) -> None:
    """Each gateway with each worker; both dispatchers and both recorders share what there is."""
    processes = ("gateway", "worker", "dispatcher", "recorder")
    names = [f"{release} {process}" for process in processes for release in RELEASES]
    with migrated_database() as url, mixed_releases(tmp_path, url) as mixed:
        for process in processes:
            for release in RELEASES:
                mixed.start(release, process)
        mixed.await_ready(*names)
        for release in RELEASES:
            wait_for(lambda: mixed.counted(f"{release} gateway", "onlooker_live_workers"), lambda live: live == 2)  # noqa: B023
        stream = create_stream(mixed)
        expected = 0
        for release in RELEASES:
            before = {worker: mixed.counted(worker, "onlooker_worker_jobs_total") for worker in names[2:4]}
            with httpx2.Client(base_url=mixed.url(f"{release} gateway"), auth=stream.auth, timeout=30) as client:
                with ThreadPoolExecutor(4) as pool:
                    counted = list(pool.map(lambda number: send_session(client, number), range(SESSIONS)))
                assert counted == [list(range(1, FRAMES + 1))] * SESSIONS
                assert dummy(client).status_code == 201
                jobs = [dummy(client, **{"async": True}).json()["url"] for _ in range(10)]
                results = [finished(client, httpx2.URL(job).path) for job in jobs]
                assert [result.status_code for result in results] == [200] * len(jobs)
            expected += SESSIONS
            for worker, jobs_before in before.items():
                assert mixed.counted(worker, "onlooker_worker_jobs_total") > jobs_before, f"{release} with {worker}"
        publish_visits(mixed, stream.id)
        expected += PUBLISHED
        wait_for(lambda: count_visits(mixed, stream.id), lambda count: count >= expected, limit_s=30)
        time.sleep(1)
        assert count_visits(mixed, stream.id) == expected
        for release in RELEASES:
            assert mixed.counted(f"{release} recorder", "onlooker_recorder_visits_total") > 0
            assert mixed.counted(f"{release} recorder", "onlooker_recorder_put_aside_total") == 0


def test_new_processes_wait_for_the_tables_that_the_earlier_release_did_not_have(tmp_path: Path) -> None:
    """On a database that the earlier release migrated; where nothing was added since, they serve at once."""
    with fresh_database() as url, mixed_releases(tmp_path, url) as mixed:
        migrated = mixed.run("old", "migrate")
        assert migrated.returncode == 0, migrated.stderr
        with psycopg.connect(url) as connection:
            rows = connection.execute("SELECT app, name FROM django_migrations").fetchall()
        missing = our_migrations() - {f"{app}.{name}" for app, name in rows}
        processes = ("gateway", "dispatcher", "recorder", "data")
        for process in processes:
            mixed.start("new", process)
        if missing:
            for process in processes:
                log = tmp_path / f"new {process}.log"
                wait_for(log.read_text, lambda text: "onlooker database migrate" in text, limit_s=60)
                assert all(name in log.read_text() for name in missing)
                assert not mixed.is_ready(f"new {process}")
        applied = mixed.run("new", "database", "migrate")
        assert applied.returncode == 0, applied.stderr
        assert mixed.run("new", "database", "migrate", "--check").returncode == 0
        mixed.await_ready(*(f"new {process}" for process in processes))
