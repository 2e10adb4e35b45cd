"""The processes' roles in PostgreSQL: made, checked against its catalogue, and no more than is needed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import psycopg
import pytest

from onlooker.database_roles.comparison import existing_tables, find_differences
from onlooker.database_roles.creation import grant_all, make_logins
from onlooker.database_roles.grants import CONSOLE, DATA, GATEWAY, MIGRATIONS, RECORDER, ROLES, known_tables
from onlooker.database_roles.logins import Logins, login_file, loopback_url, read_logins, url_as
from onlooker.settings import Settings
from testkit import migrated_database


@pytest.fixture
def url() -> Iterator[str]:
    with migrated_database() as made:
        yield made


@pytest.fixture
def settings(url: str, tmp_path: Path) -> Settings:
    return Settings(home=str(tmp_path), database_url=url)


@pytest.fixture
def owner(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def logins(owner: psycopg.Connection, settings: Settings) -> Logins:
    made, refused = make_logins(owner, settings)
    assert not refused
    return made


def as_role(logins: Logins, process: str) -> psycopg.Connection:
    return psycopg.connect(logins.urls[process], autocommit=True)


def run_command(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"ONLOOKER_DATABASE_URL": settings.database_url, "ONLOOKER_HOME": settings.home}
    command = [sys.executable, "-m", "onlooker", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_every_table_is_in_the_table_of_grants(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')"
    ).fetchall()
    assert {name for (name,) in rows} == set(known_tables())


def test_roles_have_what_is_declared_and_nothing_else(owner: psycopg.Connection, logins: Logins) -> None:
    assert find_differences(owner, logins.prefix) == []


def test_making_them_again_changes_nothing(owner: psycopg.Connection, settings: Settings, logins: Logins) -> None:
    again, refused = make_logins(owner, settings)
    assert not refused
    assert again == logins == Logins(logins.prefix, read_logins(settings))
    assert find_differences(owner, logins.prefix) == []


def test_before_tables_of_an_earlier_release_are_migrated_their_grants_stay(
    owner: psycopg.Connection, settings: Settings, logins: Logins
) -> None:
    """`onlooker up` makes the roles before it migrates, and grants name columns that come with the migrations."""
    owner.execute("ALTER TABLE streams_stream RENAME COLUMN organisation_id TO not_yet")
    owner.execute(f"GRANT DELETE ON streams_site TO {logins.role(GATEWAY)}")
    make_logins(owner, settings)
    gone = "SELECT has_table_privilege(%s, 'streams_site', 'DELETE')"
    assert owner.execute(gone, [logins.role(GATEWAY)]).fetchone() == (True,)
    owner.execute("ALTER TABLE streams_stream RENAME COLUMN not_yet TO organisation_id")
    grant_all(owner, logins.prefix)
    assert find_differences(owner, logins.prefix) == []
    assert owner.execute(gone, [logins.role(GATEWAY)]).fetchone() == (False,)


def test_files_with_the_right_urls_are_not_written(
    owner: psycopg.Connection, settings: Settings, logins: Logins
) -> None:
    files = [login_file(settings, process) for process in ROLES]
    for file in files:
        os.utime(file, (0, 0))
    make_logins(owner, settings)
    assert [file.stat().st_mtime for file in files] == [0] * len(ROLES)


def test_each_url_is_in_a_file_for_its_owner_alone(settings: Settings, logins: Logins) -> None:
    files = sorted((Path(settings.home) / "database").iterdir())
    assert [path.name for path in files] == sorted(ROLES)
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert len({logins.password(process) for process in ROLES}) == len(ROLES)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("GRANT SELECT ON accounts_account TO {0}_gateway", "has SELECT on accounts_account, which it does not need"),
        ("GRANT UPDATE (name) ON streams_stream TO PUBLIC", "has UPDATE (name) on streams_stream"),
        ("REVOKE SELECT ON visits_visit FROM {0}_data", "{0}_data lacks SELECT on visits_visit"),
        ("REVOKE SELECT (kid) ON tokens_signingkey FROM {0}_data", "lacks SELECT (kid) on tokens_signingkey"),
        ("GRANT EXECUTE ON FUNCTION visits_drop_partition(date) TO {0}_data", "may call visits_drop_partition(date)"),
        ("REVOKE EXECUTE ON FUNCTION streams_lock(bigint) FROM {0}_gateway", "may not call streams_lock(bigint)"),
        ("GRANT {0}_console TO {0}_gateway", "{0}_gateway is a member of {0}_console"),
        ("GRANT TEMPORARY ON DATABASE {0} TO {0}_data", "{0}_data may create temporary tables"),
        ("GRANT CREATE ON SCHEMA public TO {0}_data", "{0}_data may create tables"),
        ("ALTER TABLE visits_mark OWNER TO {0}_data", "visits_mark belongs to {0}_data, not to {0}_migrations"),
        ("ALTER ROLE {0}_data SUPERUSER", "{0}_data is a superuser"),
        ("ALTER ROLE {0}_data CREATEROLE", "{0}_data may create roles"),
    ],
)
def test_what_differs_is_named(owner: psycopg.Connection, logins: Logins, change: str, found: str) -> None:
    owner.execute(change.format(logins.prefix))
    assert found.format(logins.prefix) in " ".join(find_differences(owner, logins.prefix))


def test_what_differs_is_put_right(owner: psycopg.Connection, settings: Settings, logins: Logins) -> None:
    prefix = logins.prefix
    owner.execute(f"GRANT ALL ON streams_stream TO {prefix}_data; REVOKE SELECT ON visits_visit FROM {prefix}_data")
    owner.execute(f"GRANT {prefix}_console TO {prefix}_gateway; ALTER TABLE visits_mark OWNER TO CURRENT_USER")
    owner.execute(f"GRANT CREATE ON SCHEMA public TO {prefix}_data; GRANT TEMPORARY ON DATABASE {prefix} TO PUBLIC")
    owner.execute(f"ALTER ROLE {prefix}_data CREATEROLE")
    make_logins(owner, settings)
    assert find_differences(owner, prefix) == []


def test_one_that_may_not_create_roles_is_told_the_remedy(settings: Settings, logins: Logins) -> None:
    as_data = Settings(home=settings.home, database_url=logins.urls[DATA])
    told = run_command(as_data, "database", "roles")
    assert told.returncode == 2
    assert "CREATEROLE" in told.stderr


def test_a_month_is_made_read_and_dropped_without_rights_to_it(owner: psycopg.Connection, logins: Logins) -> None:
    with as_role(logins, RECORDER) as recorder, as_role(logins, DATA) as data:
        recorder.execute("SELECT visits_make_partition(%s)", [date(2026, 11, 1)])
        assert data.execute("SELECT count(*) FROM visits_visit").fetchone() == (0,)
        for connection in (recorder, data):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT FROM visits_visit_y2026m11")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            recorder.execute("DROP TABLE visits_visit_y2026m11")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            data.execute("SELECT visits_make_partition(%s)", [date(2026, 12, 1)])
        assert find_differences(owner, logins.prefix) == []
        recorder.execute("SELECT visits_drop_partition(%s)", [date(2026, 11, 1)])
    assert "visits_visit_y2026m11" not in existing_tables(owner, months=True)


def test_a_table_of_ones_own_does_not_stand_in_for_visits(owner: psycopg.Connection, logins: Logins) -> None:
    """Even for a role that may create temporary tables, which are found before others."""
    owner.execute(f"GRANT TEMPORARY ON DATABASE {logins.prefix} TO {logins.role(RECORDER)}")
    with as_role(logins, RECORDER) as recorder:
        recorder.execute("CREATE TEMPORARY TABLE visits_visit (began_at timestamptz) PARTITION BY RANGE (began_at)")
        recorder.execute("SELECT visits_make_partition(%s)", [date(2026, 11, 1)])
    rows = owner.execute(
        "SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = %s::regclass", ["visits_visit_y2026m11"]
    ).fetchall()
    assert rows == [("visits_visit",)]


def test_a_gateway_locks_a_stream_that_it_can_not_change(logins: Logins) -> None:
    with as_role(logins, GATEWAY) as gateway:
        gateway.execute("SELECT streams_lock(1)")
        for statement in ("UPDATE streams_stream SET enabled = true", "SELECT FROM streams_stream FOR UPDATE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                gateway.execute(statement)


def test_no_role_becomes_another(logins: Logins) -> None:
    with as_role(logins, CONSOLE) as console:
        for statement in (f"SET ROLE {logins.role(MIGRATIONS)}", "RESET ROLE; CREATE ROLE intruder"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                console.execute(statement)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql:///onlooker", "postgresql://me:p%2Fw@/onlooker"),
        (
            "postgresql://boss:secret@db.example.org:5433/x?sslmode=require",
            "postgresql://me:p%2Fw@db.example.org:5433/onlooker?sslmode=require",
        ),
        (
            "postgresql:///?host=/run/pg&user=boss&password=x&dbname=y",
            "postgresql://me:p%2Fw@/onlooker?host=%2Frun%2Fpg",
        ),
    ],
)
def test_a_url_for_another_user_leads_to_the_same_database(url: str, expected: str) -> None:
    made = url_as(url, "me", "p/w", database="onlooker")
    assert made.replace("/run/pg", "%2Frun%2Fpg") == expected


def test_a_local_socket_has_an_address_on_loopback() -> None:
    assert loopback_url("postgresql:///onlooker?host=/run/pg&sslmode=disable", 5433) == (
        "postgresql://127.0.0.1:5433/onlooker?sslmode=disable"
    )
