"""Backing up a real database with its secrets and restoring both: nothing is overwritten, nothing expired returns."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from onlooker.backup.age_file import create_key
from onlooker.backup.postgresql_tools import connection_variables
from testkit import fresh_database, migrated_database

pytestmark = pytest.mark.timeout(120)

_STREAM = """
WITH owner AS (INSERT INTO accounts_account (password, is_superuser, email, is_staff, is_active, created_at)
               VALUES ('!', false, 'owner@example.org', false, true, now()) RETURNING id)
INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at, retention_days)
SELECT id, 'till', gen_random_uuid(), 'enterprise', true, now(), 365 FROM owner RETURNING id"""
_VISIT = """
INSERT INTO visits_visit (stream_id, began_at, id, revision, ended, session, present, still, looking,
                          age_confidence, gender_confidence, confidence)
VALUES (%(stream)s, %(at)s, gen_random_uuid(), 1, true, 's', tstzmultirange(tstzrange(%(at)s, %(at)s + interval '5 s')),
        '{}', '{}', 0, 0, 0)"""
_SESSION = "INSERT INTO django_session (session_key, session_data, expire_date) VALUES ('key', 'data', now() + '1 day')"


@dataclass(frozen=True)
class Installation:
    """A database and a home folder, and commands with both."""

    url: str
    home: Path

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        ours = {"ONLOOKER_DATABASE_URL": self.url, "ONLOOKER_HOME": str(self.home)} | settings
        clean = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
        command = [sys.executable, "-m", "onlooker", *arguments]
        return subprocess.run(command, env=clean | ours, capture_output=True, text=True, timeout=100, check=False)

    def ask(self, query: str, values: object = None) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(query, values)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def count(self, table: str) -> object:
        return self.ask(f"SELECT count(*) FROM {table}")[0][0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("backup")


@pytest.fixture(scope="module")
def original(folder: Path) -> Iterator[Installation]:
    """With a visit of today and one of a day that its stream just keeps, and sessions of the console."""
    with migrated_database() as url:
        made = Installation(url, folder / "original")
        made.home.mkdir(mode=0o700)
        (made.home / "secret_key").write_text("a secret key of this test that is as long as it should be, and more")
        ((stream,),) = made.ask(_STREAM)
        now = datetime.now(UTC)
        for at in (now - timedelta(days=40), now - timedelta(hours=1)):
            month = at.date().replace(day=1)
            if not _has_month(made, month):
                made.ask("SELECT visits_make_partition(%s)", [month])
            made.ask(_VISIT, {"stream": stream, "at": at})
        made.ask(_SESSION)
        yield made


def _has_month(made: Installation, month: object) -> bool:
    return bool(made.ask("SELECT to_regclass(%s) IS NOT NULL", [f"visits_visit_y{month:%Y}m{month:%m}"])[0][0])


@pytest.fixture(scope="module")
def file(original: Installation, folder: Path) -> Path:
    public = create_key(folder / "backup.key")
    path = folder / "onlooker.age"
    done = original.run("backup", "create", str(path), "--recipient", public)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Installation]:
    with fresh_database() as url:
        yield Installation(url, tmp_path / "home")


def restore(target: Installation, file: Path, *options: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return target.run("restore", str(file), "--key", str(file.parent / "backup.key"), *options, **settings)


def public_of(file: Path) -> str:
    return (file.parent / "backup.key").read_text().partition("public key: ")[2].split()[0]


def test_a_file_that_was_cut_off_changes_nothing(file: Path, empty: Installation) -> None:
    cut = file.with_name("cut.age")
    cut.write_bytes(file.read_bytes()[:-1000])
    refused = restore(empty, cut)
    assert (refused.returncode, "damaged or incomplete" in refused.stderr) == (2, True)
    assert empty.ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]
    assert not (empty.home / "secret_key").exists()


def test_no_password_is_in_arguments_of_postgresqls_programs() -> None:
    """Every user of a machine can list them."""
    given = connection_variables("postgresql://somebody:hidden@db.example.org:6432/onlooker?sslmode=require")
    expected = {"PGUSER": "somebody", "PGPASSWORD": "hidden", "PGHOST": "db.example.org", "PGPORT": "6432"}
    assert {name: given[name] for name in expected} == expected
    assert (given["PGDATABASE"], given["PGSSLMODE"]) == ("onlooker", "require")


def test_a_database_without_tables_is_no_backup(empty: Installation, file: Path) -> None:
    refused = empty.run("backup", "create", f"{file}.empty", "--recipient", public_of(file))
    assert (refused.returncode, "has no tables of Onlooker" in refused.stderr) == (2, True)
    assert not list(file.parent.glob("*.empty*"))


def test_clean_up_wants_a_restored_database(empty: Installation) -> None:
    refused = empty.run("database", "clean-up")
    assert (refused.returncode, "has no tables of Onlooker" in refused.stderr) == (2, True)


def test_clean_up_refuses_the_database_of_a_newer_release(tmp_path: Path) -> None:
    with migrated_database() as url:
        target = Installation(url, tmp_path / "home")
        target.ask("INSERT INTO django_migrations (app, name, applied) VALUES ('visits', '9999_later', now())")
        target.ask(_SESSION)
        refused = target.run("database", "clean-up")
        assert (refused.returncode, "does not know: visits.9999_later" in refused.stderr) == (2, True)
        assert target.count("django_session") == 1
