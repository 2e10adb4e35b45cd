"""The processes' roles in PostgreSQL: made, checked against its catalogue, and no more than is needed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from onlooker.database_roles.comparison import find_differences
from onlooker.database_roles.creation import grant_all, make_logins, may_create_roles
from onlooker.database_roles.grants import DATA, MIGRATIONS
from onlooker.database_roles.logins import Logins, url_as
from onlooker.settings import Settings
from testkit import fresh_database, migrated_database


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


def test_the_command_says_what_differs_and_fails(settings: Settings) -> None:
    before = run_command(settings, "database", "roles", "--check")
    assert before.returncode == 1
    assert "_gateway is missing." in before.stdout
    made = run_command(settings, "database", "roles")
    assert (made.returncode, made.stderr) == (0, "")
    assert str(Path(settings.home) / "database" / "gateway") in made.stdout
    after = run_command(settings, "database", "roles", "--check")
    assert (after.returncode, after.stderr) == (0, "")
    assert "have what they need and nothing else" in after.stdout


def test_an_owner_that_may_create_roles_needs_no_superuser(tmp_path: Path) -> None:
    """Migrations run with their own role, and grant what they create."""
    with fresh_database() as url, psycopg.connect(url, autocommit=True) as superuser:
        name = superuser.info.dbname
        superuser.execute(f"CREATE ROLE {name}_given LOGIN CREATEROLE")
        superuser.execute(f"ALTER DATABASE {name} OWNER TO {name}_given")
        settings = Settings(home=str(tmp_path), database_url=url_as(url, f"{name}_given", "", database=name))
        with psycopg.connect(settings.database_url, autocommit=True) as given:
            assert may_create_roles(given)
            logins, refused = make_logins(given, settings)
            assert not refused
            migrating = Settings(home=str(tmp_path), database_url=logins.urls[MIGRATIONS])
            done = run_command(migrating, "migrate")
            assert done.returncode == 0, done.stderr
            assert find_differences(given, name) == []
            grant_all(given, name)
            assert given.execute("SELECT count(*) FROM streams_stream").fetchone() == (0,)
        with as_role(logins, DATA) as data:
            assert not may_create_roles(data)
