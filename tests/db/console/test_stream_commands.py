"""`onlooker stream`: what an operator does without a browser."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest

from onlooker.streams.options import READING_NOTICE
from testkit import migrated_database


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with migrated_database() as made:
        yield made


def run(database: str, *arguments: str, code: int = 0, typed: str = "", **settings: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    done = subprocess.run(
        [sys.executable, "-m", "onlooker", "stream", *arguments],
        env=environment | {"ONLOOKER_DATABASE_URL": database, "ONLOOKER_HOME": "/nonexistent"} | settings,
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def ask(database: str, query: str, *values: object) -> list[tuple[object, ...]]:
    with psycopg.connect(database) as connection:
        return connection.execute(query, values).fetchall()


def create(database: str, *options: str, **settings: str) -> dict[str, str]:
    made: dict[str, str] = json.loads(run(database, "create", "Front door", "--json", *options, **settings))
    return made


CARDS = {
    "ONLOOKER_STRIPE_SECRET_KEY": "sk_test_1",
    "ONLOOKER_STRIPE_WEBHOOK_SECRET": "whsec_1",
    "ONLOOKER_STRIPE_PRICE": "price_1",
}


@pytest.mark.parametrize(
    ("settings", "options", "kind"),
    [
        ({}, (), "enterprise"),
        ({"ONLOOKER_ENTERPRISE_WITHOUT_BILLING": "staff"}, (), "enterprise"),
        ({}, ("--kind", "developer"), "developer"),
        (CARDS, (), "developer"),
        (CARDS, ("--kind", "enterprise"), "enterprise"),
    ],
)
def test_a_stream_is_an_enterprise_stream_unless_there_is_billing_or_another_choice(
    database: str, settings: dict[str, str], options: tuple[str, ...], kind: str
) -> None:
    client_id = create(database, *options, **settings)["client_id"]
    assert ask(database, "SELECT kind FROM streams_stream WHERE client_id = %s", client_id) == [(kind,)]


@pytest.mark.parametrize("command", ["create", "set"])
def test_the_help_says_what_the_kinds_are_and_what_the_law_wants(database: str, command: str) -> None:
    said = " ".join(run(database, command, "--help").split())
    assert "Developer: for non-commercial use only, and stops after 3 hours of video each month" in said
    assert "Enterprise: no monthly limit." in said
    assert READING_NOTICE in said


def test_wrong_names_and_time_zones_are_explained(database: str) -> None:
    assert "needs a name" in run(database, "create", " ", code=2)
    assert "Europe/Paris" in run(database, "create", "Door", "--time-zone", "Paris", code=2)
    client_id = create(database)["client_id"]
    assert "control characters" in run(database, "set", client_id, "--name", "two\nlines", code=2)
