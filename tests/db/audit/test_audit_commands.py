"""`onlooker audit` and `onlooker stream forget`: what an operator does without a browser."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from bearer_tokens import database_url
from onlooker.cli import main
from onlooker.database import Pool
from onlooker.streams.models import Stream
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from recorder_process import visit, with_pool

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")


def run(*arguments: Any, code: int = 0, typed: str = "") -> str:
    result = CliRunner().invoke(main, [str(one) for one in arguments], input=typed)
    assert result.exit_code == code, result.output
    return str(result.output)


def create() -> str:
    return str(json.loads(run("stream", "create", "Front door", "--json"))["client_id"])


def test_what_is_done_at_the_command_line_is_logged_with_the_user_s_name() -> None:
    client_id = create()
    run("stream", "set", client_id, "--no-age", "--audit-days", "90")
    run("stream", "rotate", client_id)
    entries = [json.loads(line) for line in run("audit", "export", client_id).splitlines()]
    assert {entry["actor"] for entry in entries} == {"command:ada"}
    assert [entry["action"] for entry in entries] == [
        *("stream.created", "password.created", "stream.changed", "stream.changed"),
        *("password.changed", "password.created"),
    ]
    assert json.loads(entries[3]["detail"]) == {"audit_days": [365, 90]}
    assert [entry["number"] for entry in entries] == list(range(1, 7))
    assert len(run("audit", "export", client_id, "--form", "csv").splitlines()) == 7


def test_a_check_names_the_first_broken_entry(tmp_path: Path) -> None:
    client_id, other = create(), create()
    for days in (10, 20, 30):
        run("stream", "set", client_id, "--retention-days", str(days))
    assert "unbroken: 5 entries, the last is 5 with " in run("audit", "check", client_id)
    file = tmp_path / "audit.jsonl"
    file.write_text(run("audit", "export", client_id))
    assert "unbroken: 5 entries" in run("audit", "check", "--file", str(file))
    with psycopg.connect(database_url(), autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(
            """UPDATE audit_entry SET detail = replace(detail, '20', '21') WHERE number = 4
               AND stream_id = (SELECT id FROM streams_stream WHERE client_id = %s)""",
            [client_id],
        )
    told = run("audit", "check", code=1)
    assert f"{client_id}  BROKEN after 3 entries. Entry 4 was changed: its hash is of something else." in told
    assert f"{other}  unbroken: 2 entries" in told
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:2], *lines[3:]]))
    assert "Entry 3 is missing" in run("audit", "check", "--file", str(file), code=1)
    file.write_text("nonsense\n")
    assert "Line 1 is no entry" in run("audit", "check", "--file", str(file), code=1)


def test_a_range_is_forgotten() -> None:
    client_id = create()
    stream_id = Stream.objects.get(client_id=client_id).pk
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
    began = [int((hour + timedelta(minutes=minutes)).timestamp() * 1000) for minutes in (-10, 10, 70)]

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([visit(stream_id, began_ms=at) for at in began])

    with_pool(database_url(), act)
    given = ["--from", f"{hour:%Y-%m-%dT%H:%M}", "--to", f"{hour + timedelta(hours=1):%Y-%m-%dT%H:%M:%S%z}"]
    asked = run("stream", "forget", client_id, *given, typed="n\n", code=1)
    assert "Erase 1 visits and the totals of 0 quarters of an hour of 'Front door'" in asked
    assert "Erased: visits 1," in run("stream", "forget", client_id, *given, "--yes")
    with psycopg.connect(database_url()) as connection:
        left = connection.execute("SELECT count(*) FROM visits_visit WHERE stream_id = %s", [stream_id]).fetchone()
    assert left == (2,)
    future = f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%dT%H:%M}"
    assert "into the future" in run("stream", "forget", client_id, *given[:3], future, "--yes", code=2)
    last = json.loads(run("audit", "export", client_id).splitlines()[-1])
    assert (last["actor"], last["action"]) == ("command:ada", "visits.erased")
