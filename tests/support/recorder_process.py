"""A bus, a database and a recorder process, without the rest of the product: for tests of what is recorded."""

import asyncio
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import psycopg
import pytest

from onlooker.bus import visit_stream
from onlooker.bus.connection import Bus, BusError, connect
from onlooker.bus.preparation import BUS_NOT_READY, prepare_bus
from onlooker.bus.subjects import ended_subject, visits_subject
from onlooker.database import Pool, open_pool
from onlooker.settings import Settings
from onlooker.up.nats_server import find_program, write_configuration
from onlooker_pipeline.visits.visit import Visit, encode_visit
from testkit import free_ports
from testkit.postgresql import server_url

ACK_WAIT_S = 2.0
"""Instead of half a minute: tests wait for what nobody acknowledged."""


def empty(database_url: str) -> None:
    """No stream, no visit, no partition: as after migrating."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        found = connection.execute("SELECT relid::text FROM pg_partition_tree('visits_visit') WHERE isleaf").fetchall()
        for (name,) in found:
            connection.execute(f"DROP TABLE {name}")
        connection.execute("TRUNCATE streams_stream CASCADE")


def create_stream(database_url: str, *, retention_days: int = 365, created_at: str = "2020-01-01T00:00:00Z") -> int:
    """Number of a new stream, which counts as an old one."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        row = connection.execute(
            """WITH owner AS (INSERT INTO accounts_account
                                     (password, is_superuser, email, is_staff, is_active, created_at)
                              VALUES ('!', false, 'owner@example.org', false, true, now())
                              ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id)
               INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at, retention_days)
               SELECT id, 'test', gen_random_uuid(), 'enterprise', true, %s, %s FROM owner RETURNING id""",
            [created_at, retention_days],
        ).fetchone()
    assert row
    return int(row[0])


@contextmanager
def database_away(database_url: str) -> Iterator[None]:
    """A database that nobody can connect to until the block ends, and from which everybody is thrown out."""
    name = urlsplit(database_url).path.removeprefix("/")
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        try:
            yield
        finally:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


def visit(stream_id: int, *, revision: int = 1, began_ms: int | None = None, **changes: Any) -> Visit:
    """A visit of as many seconds as its revision says."""
    start = began_ms if began_ms is not None else int(time.time() * 1000) - 60_000
    made = Visit(
        id=uuid.uuid4().bytes,
        stream_id=stream_id,
        session=f"{stream_id}.scene_analysis-1.{uuid.uuid4().hex}",
        revision=revision,
        ended=True,
        present=[(start, start + revision * 1000)],
        still=[],
        looking=[(start, start + 500)],
        age=33.5,
        age_confidence=0.8,
        gender="female",
        gender_confidence=0.9,
        expression=(0.2, 0.5, 0.1, 0.1, 0.1),
        confidence=1.0,
    )
    return msgspec.structs.replace(made, **changes)


def later(one: Visit, revision: int) -> Visit:
    """The same visit, longer."""
    return msgspec.structs.replace(one, revision=revision, present=[(one.began_ms, one.began_ms + revision * 1000)])


def eventually(check: Callable[[], Any], *, within_s: float = 15) -> Any:
    """What `check` says as soon as it says something."""
    give_up_at = time.monotonic() + within_s
    while not (found := check()):
        assert time.monotonic() < give_up_at, "it did not come about"
        time.sleep(0.05)
    return found


@dataclass
class Recording:
    """What the tests do with them."""

    settings: Settings
    passwords: dict[str, str]
    program: list[str]
    folder: Path
    bus_process: subprocess.Popen[bytes] | None = None
    recorders: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_bus(self) -> None:
        self.bus_process = subprocess.Popen(self.program)

    def kill_bus(self) -> None:
        assert self.bus_process
        self.bus_process.kill()
        self.bus_process.wait()

    def start_recorder(self, *, monitored: bool = True) -> None:
        values = {"ONLOOKER_NATS_USER": "recorder", "ONLOOKER_NATS_PASSWORD": self.passwords["recorder"]}
        for name in ("nats_url", "database_url", "monitoring_port", "recorder_batch", "session_idle_s"):
            values[f"ONLOOKER_{name.upper()}"] = str(getattr(self.settings, name))
        if not monitored:
            values["ONLOOKER_MONITORING_PORT"] = "0"
        with (self.folder / "recorder.log").open("ab") as log:
            command = [sys.executable, "-m", "onlooker", "recorder"]
            self.recorders.append(subprocess.Popen(command, env=os.environ | values, stderr=log))

    def kill_recorder(self) -> None:
        process = self.recorders.pop()
        process.kill()
        process.wait()

    @contextmanager
    def second_recorder(self) -> Iterator[None]:
        self.start_recorder(monitored=False)
        try:
            yield
        finally:
            self.kill_recorder()

    def stop_recorder(self) -> int:
        process = self.recorders.pop()
        process.terminate()
        return process.wait(20)

    @property
    def log(self) -> str:
        return (self.folder / "recorder.log").read_text()

    async def with_bus(self, user: str, act: Callable[[Bus], Awaitable[Any]]) -> Any:
        changes = {"nats_user": user, "nats_password": self.passwords[user]}
        bus = await connect(msgspec.structs.replace(self.settings, **changes), name="test")
        try:
            return await act(bus)
        finally:
            await bus.close()

    def send(self, user: str, messages: list[tuple[str, bytes]]) -> None:
        """Leave messages in JetStream, as that role."""

        async def act(bus: Bus) -> None:
            for subject, payload in messages:
                answer = await bus.ask(subject, payload, timeout_s=5)
                if b'"error"' in answer.data:
                    raise BusError(answer.data.decode())

        asyncio.run(self.with_bus(user, act))

    def publish(self, *visits: Visit) -> None:
        self.send("worker-1", [(visits_subject(one.stream_id), encode_visit(one)) for one in visits])

    def end(self, stream_id: int, state: bytes) -> None:
        self.send("gateway", [(ended_subject(stream_id), state)])

    def waiting(self) -> int:
        """Messages that nobody has acknowledged."""

        async def act(bus: Bus) -> int:
            return await visit_stream.VisitQueue(bus).count_waiting()

        return int(asyncio.run(self.with_bus("recorder", act)))

    def execute(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.settings.database_url, autocommit=True) as connection:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

    def revisions(self, stream_id: int) -> dict[bytes, int]:
        rows = self.execute("SELECT id, revision FROM visits_visit WHERE stream_id = %s", stream_id)
        assert len({row[0] for row in rows}) == len(rows)
        return {row[0].bytes: row[1] for row in rows}

    def put_aside(self, reason: str) -> list[tuple[Any, ...]]:
        query = "SELECT visit_id, stream_id, payload, detail FROM visits_putaside WHERE reason = %s ORDER BY number"
        return self.execute(query, reason)

    def create_stream(self, *, retention_days: int = 365) -> int:
        return create_stream(self.settings.database_url, retention_days=retention_days)


@contextmanager
def running_recording(database_url: str, folder: Path) -> Iterator[Recording]:
    """A bus and a recorder until the block ends."""
    nats_port, monitoring_port = free_ports(2)
    settings = Settings(
        nats_url=f"nats://127.0.0.1:{nats_port}", database_url=database_url, monitoring_port=monitoring_port
    )
    configuration, passwords = write_configuration(folder / "nats", settings)
    recording = Recording(settings, passwords, [find_program(settings), "-c", str(configuration)], folder)
    recording.start_bus()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(visit_stream, "ACK_WAIT_S", ACK_WAIT_S)
            eventually(lambda: _prepared(settings, passwords["setup"]))
        recording.start_recorder()
        yield recording
    finally:
        while recording.recorders:
            recording.kill_recorder()
        recording.kill_bus()


def _prepared(settings: Settings, password: str) -> bool:
    try:
        asyncio.run(prepare_bus(settings, password))
    except BUS_NOT_READY:
        return False
    return True


def with_pool(url: str, act: Callable[[Pool], Awaitable[None]]) -> None:
    async def run() -> None:
        async with open_pool(Settings(database_url=url)) as pool:
            await act(pool)

    asyncio.run(run())
