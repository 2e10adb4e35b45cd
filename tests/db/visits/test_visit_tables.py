"""The tables of visits as Django knows them are the ones that the migration makes."""

import os
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest

from recorder_process import create_stream
from testkit import migrated_database

SET_UP = "import django; django.setup(); from django.core.management import call_command; "


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with migrated_database() as made:
        yield made


def run_django(url: str, script: str) -> str:
    environment = {"ONLOOKER_DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "onlooker.console.web.settings"}
    command = [sys.executable, "-c", SET_UP + script]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_no_migration_is_missing(url: str) -> None:
    run_django(url, "call_command('makemigrations', '--check', '--dry-run')")


def test_django_reads_visits_and_removes_a_stream_with_them(url: str) -> None:
    stream_id = create_stream(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE visits_visit_y2026m11 PARTITION OF visits_visit"
                           " FOR VALUES FROM ('2026-11-01 00:00+00') TO ('2026-12-01 00:00+00')")  # fmt: skip
        connection.execute(
            """INSERT INTO visits_visit (stream_id, began_at, id, revision, ended, session, present, still, looking,
                                         age_confidence, gender_confidence, confidence)
               VALUES (%s, '2026-11-15 10:00+00', gen_random_uuid(), 1, true, 'x',
                       '{[2026-11-15 10:00+00,2026-11-15 10:01+00)}', '{}', '{}', 0, 0, 1)""",
            [stream_id],
        )
        script = (
            "from onlooker.streams.models import Stream; from onlooker.visits.models import VisitRow; "
            f"print(VisitRow.objects.get(stream_id={stream_id}).present[0].upper.minute); "
            f"Stream.objects.get(id={stream_id}).delete()"
        )
        assert run_django(url, script) == "1\n"
        assert connection.execute("SELECT count(*) FROM visits_visit").fetchone() == (0,)
