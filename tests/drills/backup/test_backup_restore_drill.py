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
from onlooker.backup.postgresql_tools import PASSING_TABLES
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


def test_visits_and_secrets_come_back_and_sessions_do_not(
    original: Installation, file: Path, empty: Installation
) -> None:
    done = restore(empty, file)
    assert done.returncode == 0, done.stderr
    query = "SELECT * FROM visits_visit ORDER BY id"
    assert empty.ask(query) == original.ask(query)
    assert (empty.home / "secret_key").read_text() == (original.home / "secret_key").read_text()
    assert original.count("django_session") == 1
    assert {table: empty.count(table) for table in PASSING_TABLES} == dict.fromkeys(PASSING_TABLES, 0)
    assert "Visits past their retention: deleted." in done.stdout


def test_visits_that_are_past_retention_by_now_do_not_come_back(original: Installation, file: Path) -> None:
    """As if the backup were older: the stream's retention ended for one of its visits since."""
    with fresh_database() as url:
        target = Installation(url, file.parent / "later")
        with psycopg.connect(original.url, autocommit=True) as connection:
            connection.execute("UPDATE streams_stream SET retention_days = 30")
        try:
            done = original.run("backup", "create", f"{file}.later", "--recipient", public_of(file))
        finally:
            original.ask("UPDATE streams_stream SET retention_days = 365")
        assert done.returncode == 0, done.stderr
        done = restore(target, Path(f"{file}.later"))
        assert done.returncode == 0, done.stderr
        assert (original.count("visits_visit"), target.count("visits_visit")) == (2, 1)


def public_of(file: Path) -> str:
    return (file.parent / "backup.key").read_text().partition("public key: ")[2].split()[0]


def test_a_database_that_is_not_empty_is_refused_unless_told(
    original: Installation, file: Path, tmp_path: Path
) -> None:
    with migrated_database() as url:
        target = Installation(url, tmp_path / "home")
        refused = restore(target, file)
        assert (refused.returncode, "is not empty" in refused.stderr) == (2, True)
        assert "--overwrite" in refused.stderr
        assert not (target.home / "secret_key").exists()
        assert target.count("visits_visit") == 0
        with psycopg.connect(url):
            busy = restore(target, file, "--overwrite")
        assert (busy.returncode, "Stop every process" in busy.stderr) == (2, True)
        assert restore(target, file, "--overwrite").returncode == 0
        assert target.count("visits_visit") == original.count("visits_visit")


def test_a_home_that_has_secrets_is_refused_unless_told(file: Path, empty: Installation) -> None:
    empty.home.mkdir()
    (empty.home / "secret_key").write_text("of another installation")
    refused = restore(empty, file)
    assert (refused.returncode, "has secrets already (secret_key)" in refused.stderr) == (2, True)
    assert empty.ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]
    assert restore(empty, file, "--overwrite").returncode == 0
    assert "of another" not in (empty.home / "secret_key").read_text()


def test_a_file_that_was_cut_off_overwrites_nothing(file: Path, tmp_path: Path) -> None:
    """Also after a restore that was killed, which leaves an empty database and the one before set aside."""
    cut = file.with_name("cut.age")
    cut.write_bytes(file.read_bytes()[:-1000])
    with migrated_database() as url:
        target = Installation(url, tmp_path / "home")
        target.home.mkdir()
        (target.home / "secret_key").write_text("of this installation")
        target.ask(_STREAM)
        for killed in (False, True):
            if killed:
                target.ask("ALTER SCHEMA public RENAME TO before_restore; CREATE SCHEMA public")
            refused = restore(target, cut, "--overwrite")
            assert (refused.returncode, "damaged or incomplete" in refused.stderr) == (2, True)
            assert target.count("streams_stream") == 1
            assert (target.home / "secret_key").read_text() == "of this installation"
        assert restore(target, file, "--overwrite").returncode == 0
        assert target.ask("SELECT count(*) FROM pg_namespace WHERE nspname = 'before_restore'") == [(0,)]


def test_another_secret_key_in_the_settings_is_named_with_the_remedy(file: Path, empty: Installation) -> None:
    done = restore(empty, file, ONLOOKER_SECRET_KEY="another key " * 6)
    assert done.returncode == 0, done.stderr
    assert "ONLOOKER_SECRET_KEY_FALLBACKS_FILE" in done.stdout
    kept = empty.home / "restored" / "secret_key"
    assert kept.read_text().startswith("a secret key of this test")
    assert kept.read_text() not in done.stdout + done.stderr
