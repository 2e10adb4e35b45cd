"""The commands of the guide to one machine run as they stand there; those that can't are marked with the reason."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from doc_pages import ROOT
from testkit import own_cluster

GUIDE = ROOT / "docs" / "guides" / "operate.md"
UNMARKED = re.compile(r"(?<!-->\n)^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STREAM = """
WITH owner AS (INSERT INTO accounts_account (password, is_superuser, email, is_staff, is_active, created_at)
               VALUES ('!', false, 'anna@example.org', false, true, now()) RETURNING id)
INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at)
SELECT id, 'Back door', '5b31d405-d6a7-4b4e-96ca-683ba6e6ffbf', 'enterprise', true, now() FROM owner
"""
SET = """SELECT reads_age, reads_gender, reads_expression, retention_days, enabled FROM streams_stream
         WHERE name = 'Back door'"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_commands_set_roles_streams_and_the_bus(tmp_path: Path) -> None:
    roles, streams, reads, recalculate, retention, bus = UNMARKED.findall(GUIDE.read_text(encoding="utf-8"))
    with own_cluster("fsync=off") as cluster:
        path = f"{Path(sys.executable).parent}:{cluster.programs}:{os.environ['PATH']}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
        place = {"PGHOST": "127.0.0.1", "PGPORT": str(cluster.port), "PGUSER": "postgres"}
        url = cluster.url.removesuffix("postgres") + "onlooker"
        ours = {"ONLOOKER_HOME": str(tmp_path / "home"), "ONLOOKER_DATABASE_URL": url}

        def run(commands: str, *, typed: str = "") -> str:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", commands],
                env=clean | place | ours | {"PATH": path},
                cwd=tmp_path,
                input=typed,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        run("createdb onlooker; onlooker database migrate")
        run(roles)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(STREAM)
            run(reads)
            run(retention)
            assert connection.execute(SET).fetchone() == (False, False, True, 90, True)
            run(recalculate)
            listed = run(streams, typed="y\n")
            assert "Front door" in listed
            assert "Back door" in listed
            assert connection.execute("SELECT count(*) FROM streams_stream WHERE removed_at IS NULL").fetchone() == (1,)
        run(bus)
    written = (tmp_path / "n1.conf").read_text()
    assert "10.0.0.1:4322" in written
    assert "10.0.0.3:6322" in written
