"""`onlooker audit` and `onlooker stream forget`: what an operator does without a browser."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from onlooker.database import Pool
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from recorder_process import visit, with_pool
from testkit import migrated_database


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with migrated_database() as made:
        yield made


def run(database: str, *arguments: str, code: int = 0, typed: str = "") -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    done = subprocess.run(
        [sys.executable, "-m", "onlooker", *arguments],
        env=environment | {"ONLOOKER_DATABASE_URL": database, "ONLOOKER_HOME": "/nonexistent", "LOGNAME": "ada"},
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def create(database: str) -> str:
    return str(json.loads(run(database, "stream", "create", "Front door", "--json"))["client_id"])


def test_what_is_done_at_the_command_line_is_logged_with_the_user_s_name(database: str) -> None:
    client_id = create(database)
    run(database, "stream", "set", client_id, "--no-age", "--audit-days", "90")
    run(database, "stream", "rotate", client_id)
    entries = [json.loads(line) for line in run(database, "audit", "export", client_id).splitlines()]
    assert {entry["actor"] for entry in entries} == {"command:ada"}
    assert [entry["action"] for entry in entries] == [
        *("stream.created", "password.created", "stream.changed", "stream.changed"),
        *("password.changed", "password.created"),
    ]
    assert json.loads(entries[3]["detail"]) == {"audit_days": [365, 90]}
    assert [entry["number"] for entry in entries] == list(range(1, 7))
    assert len(run(database, "audit", "export", client_id, "--form", "csv").splitlines()) == 7


def test_a_check_names_the_first_broken_entry(database: str, tmp_path: Path) -> None:
    client_id, other = create(database), create(database)
    for days in (10, 20, 30):
        run(database, "stream", "set", client_id, "--retention-days", str(days))
    assert "unbroken: 5 entries, the last is 5 with " in run(database, "audit", "check", client_id)
    file = tmp_path / "audit.jsonl"
    file.write_text(run(database, "audit", "export", client_id))
    assert "unbroken: 5 entries" in run(database, "audit", "check", "--file", str(file))
    with psycopg.connect(database, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(
            """UPDATE audit_entry SET detail = replace(detail, '20', '21') WHERE number = 4
               AND stream_id = (SELECT id FROM streams_stream WHERE client_id = %s)""",
            [client_id],
        )
    told = run(database, "audit", "check", code=1)
    assert f"{client_id}  BROKEN after 3 entries. Entry 4 was changed: its hash is of something else." in told
    assert f"{other}  unbroken: 2 entries" in told
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:2], *lines[3:]]))
    assert "Entry 3 is missing" in run(database, "audit", "check", "--file", str(file), code=1)
    file.write_text("nonsense\n")
    assert "Line 1 is no entry" in run(database, "audit", "check", "--file", str(file), code=1)


def test_a_range_is_forgotten(database: str) -> None:
    client_id = create(database)
    with psycopg.connect(database) as connection:
        row = connection.execute("SELECT id FROM streams_stream WHERE client_id = %s", [client_id]).fetchone()
    assert row
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
    began = [int((hour + timedelta(minutes=minutes)).timestamp() * 1000) for minutes in (-10, 10, 70)]

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([visit(row[0], began_ms=at) for at in began])

    with_pool(database, act)
    given = ["--from", f"{hour:%Y-%m-%dT%H:%M}", "--to", f"{hour + timedelta(hours=1):%Y-%m-%dT%H:%M:%S%z}"]
    asked = run(database, "stream", "forget", client_id, *given, typed="n\n", code=1)
    assert "Erase 1 visits and the totals of 0 quarters of an hour of 'Front door'" in asked
    assert "Erased: visits 1," in run(database, "stream", "forget", client_id, *given, "--yes")
    with psycopg.connect(database) as connection:
        left = connection.execute("SELECT count(*) FROM visits_visit WHERE stream_id = %s", [row[0]]).fetchone()
    assert left == (2,)
    future = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(time.time() + 3600))
    assert "into the future" in run(database, "stream", "forget", client_id, *given[:3], future, "--yes", code=2)
    last = json.loads(run(database, "audit", "export", client_id).splitlines()[-1])
    assert (last["actor"], last["action"]) == ("command:ada", "visits.erased")
