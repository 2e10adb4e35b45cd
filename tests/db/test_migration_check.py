"""Processes whose database is not migrated far enough wait for it, and go on by themselves."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from onlooker.database_roles.creation import make_logins
from onlooker.database_roles.grants import PROCESSES
from onlooker.migration_check import our_migrations
from onlooker.settings import Settings
from testkit import free_ports, migrated_database

BACK_TO = "0006_days"
LACKING = "metrics.0007_weeks"
BACK = f"""
from onlooker.cli.administration import open_django
open_django()
from django.core.management import call_command
call_command("migrate", "metrics", "{BACK_TO}", verbosity=0)
"""


def run(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ONLOOKER_")}
    environment["ONLOOKER_DATABASE_URL"] = url
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def older_database() -> Iterator[str]:
    """URL of a database that lacks one migration."""
    with migrated_database() as url:
        back = run(url, "-c", BACK)
        assert back.returncode == 0, back.stderr
        yield url


def answer(port: int, path: str) -> tuple[int, dict[str, Any]]:
    """Status 0 while nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as got:
            return int(got.status), json.load(got)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, {}


def await_answer(port: int, path: str, status: int) -> dict[str, Any]:
    give_up_at = time.monotonic() + 60
    while (got := answer(port, path))[0] != status:
        assert time.monotonic() < give_up_at, got
        time.sleep(0.1)
    return got[1]


def await_line(log: Path, words: str) -> None:
    give_up_at = time.monotonic() + 60
    while words not in log.read_text():
        assert time.monotonic() < give_up_at, log.read_text()
        time.sleep(0.1)


def test_the_migrations_of_the_files_are_those_that_django_knows(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT app, name FROM django_migrations").fetchall()
    ours = our_migrations()
    apps = {name.partition(".")[0] for name in ours}
    assert {f"{app}.{name}" for app, name in rows if app in apps} == ours
    assert LACKING in ours


def test_processes_wait_for_a_database_that_is_not_migrated_far_enough(older_database: str, tmp_path: Path) -> None:
    """Each with its own role. A process says what is missing, and serves once it is applied."""
    with psycopg.connect(older_database, autocommit=True) as owner:
        logins, refused = make_logins(owner, Settings(home=str(tmp_path), database_url=older_database))
    assert not refused
    http, monitoring = free_ports(len(PROCESSES)), free_ports(2 * len(PROCESSES))[len(PROCESSES) :]
    started = {}
    try:
        for number, process in enumerate(PROCESSES):
            settings = {
                "home": tmp_path,
                "database_url": logins.urls[process],
                "nats_url": "nats://127.0.0.1:1",
                "monitoring_port": monitoring[number],
                "secret_key": "x" * 50,
                **{f"{kind}https_port": 0 for kind in ("", "console_", "data_")},
                **{f"{kind}http_port": http[number] for kind in ("", "console_", "data_")},
            }
            environment = os.environ | {f"ONLOOKER_{name.upper()}": str(value) for name, value in settings.items()}
            with (tmp_path / f"{process}.log").open("wb") as log:
                command = [sys.executable, "-m", "onlooker", process]
                started[process] = subprocess.Popen(command, env=environment, stderr=log)
        for port in monitoring:
            assert "onlooker database migrate" in (reason := await_answer(port, "/readyz", 503)["reason"])
            assert LACKING in reason
            assert answer(port, "/livez") == (200, {"live": True})

        lacking = run(older_database, "-m", "onlooker", "database", "migrate", "--check")
        assert (lacking.returncode, lacking.stdout.split()) == (1, [LACKING])
        migrated = run(older_database, "-m", "onlooker", "database", "migrate")
        assert migrated.returncode == 0, migrated.stderr
        assert run(older_database, "-m", "onlooker", "database", "migrate", "--check").returncode == 0

        for process, port in zip(PROCESSES, monitoring, strict=True):
            if process in ("console", "data"):
                await_answer(port, "/readyz", 200)
            else:
                await_line(tmp_path / f"{process}.log", "no bus yet")  # the next thing that it needs
            assert (tmp_path / f"{process}.log").read_text().count("waiting for the database") == 1
    finally:
        for one in started.values():
            one.kill()
            one.wait()
