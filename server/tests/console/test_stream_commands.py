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


def fail(database: str, *arguments: str) -> str:
    """A wrong use; what is said about it, without line breaks and frames."""
    return " ".join(run(database, *arguments, code=2).replace("│", " ").split())


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


def test_the_kind_is_told_and_can_be_changed(database: str) -> None:
    said = run(database, "create", "Front door")
    assert "(enterprise)" in said
    client_id = create(database, "--kind", "developer")["client_id"]
    run(database, "set", client_id, "--kind", "enterprise")
    assert ask(database, "SELECT kind FROM streams_stream WHERE client_id = %s", client_id) == [("enterprise",)]


def test_expression_is_read_only_where_it_is_switched_on(database: str) -> None:
    query = "SELECT reads_age, reads_gender, reads_expression FROM streams_stream WHERE client_id = %s"
    off, on = create(database)["client_id"], create(database, "--expression")["client_id"]
    assert (ask(database, query, off), ask(database, query, on)) == ([(True, True, False)], [(True, True, True)])
    run(database, "set", off, "--expression")
    run(database, "set", on, "--no-expression")
    assert (ask(database, query, off), ask(database, query, on)) == ([(True, True, True)], [(True, True, False)])


@pytest.mark.parametrize("command", ["create", "set"])
def test_the_help_says_what_the_kinds_are_and_what_the_law_wants(database: str, command: str) -> None:
    said = " ".join(run(database, command, "--help").split())
    assert "Developer: for non-commercial use only, and stops after 3 hours of video each month" in said
    assert "Enterprise: no monthly limit." in said
    assert READING_NOTICE in said


def test_a_stream_is_made_and_set_with_a_time_zone_and_a_silence(database: str) -> None:
    client_id = create(database, "--time-zone", "Europe/Paris")["client_id"]
    run(database, "set", client_id, "--time-zone", "Asia/Tokyo", "--silence-alert-minutes", "0")
    run(database, "set", client_id, "--blind-alert-minutes", "45")
    run(database, "set", client_id, "--unusual-alert")
    query = """SELECT time_zone, silence_alert_minutes, blind_alert_minutes, unusual_alert
               FROM streams_stream WHERE client_id = %s"""
    assert ask(database, query, client_id) == [("Asia/Tokyo", 0, 45, True)]


def test_wrong_names_and_time_zones_are_explained(database: str) -> None:
    assert "needs a name" in run(database, "create", " ", code=2)
    assert "Europe/Paris" in run(database, "create", "Door", "--time-zone", "Paris", code=2)
    client_id = create(database)["client_id"]
    assert "control characters" in run(database, "set", client_id, "--name", "two\nlines", code=2)


def test_rotating_prints_a_new_access_token_once(database: str) -> None:
    made = create(database)
    said = run(database, "rotate", made["client_id"], "--grace-hours", "0.5")
    assert made["access_token"] not in said
    assert "not shown again" in said
    query = """SELECT token.expires_at IS NULL, token.expires_at - now() < interval '31 minutes'
               FROM streams_accesstoken token JOIN streams_stream stream ON stream.id = token.stream_id
               WHERE stream.client_id = %s ORDER BY token.id"""
    assert ask(database, query, made["client_id"]) == [(False, True), (True, None)]


def test_removing_asks_first(database: str) -> None:
    client_id = create(database)["client_id"]
    query = "SELECT removed_at IS NULL FROM streams_stream WHERE client_id = %s"
    run(database, "remove", client_id, typed="n\n", code=1)
    assert ask(database, query, client_id) == [(True,)]
    run(database, "remove", client_id, "--yes")
    assert ask(database, query, client_id) == [(False,)]
    assert client_id not in run(database, "list")
    assert "There is no stream" in run(database, "rotate", client_id, code=1)


PRESET = """SELECT reads_faces, reads_age, reads_gender, reads_expression, retention_days, groups_of, place
            FROM streams_stream WHERE client_id = %s"""


def test_a_preset_sets_a_stream_in_one_step(database: str) -> None:
    made = create(database, "--preset", "counts", "--place", "workplace")["client_id"]
    assert ask(database, PRESET, made) == [(False, False, False, False, 90, 1, "workplace")]
    run(database, "set", made, "--preset", "audience", "--notice-given")
    assert ask(database, PRESET, made) == [(True, True, True, False, 90, 5, "workplace")]
    run(database, "set", made, "--preset", "counts", "--retention-days", "30")
    assert ask(database, PRESET, made) == [(False, False, False, False, 30, 5, "workplace")]


def test_a_preset_needs_its_notice_and_a_place_that_allows_it(database: str) -> None:
    made = create(database)["client_id"]
    assert "Tell the people" in fail(database, "set", made, "--preset", "everything")
    everything = ("--preset", "everything", "--notice-given", "--place", "school")
    assert "art. 5(1)(f)" in fail(database, "set", made, *everything)
    run(database, "set", made, "--expression")
    assert "art. 5(1)(f)" in fail(database, "set", made, "--place", "workplace")
    assert ask(database, PRESET, made) == [(True, True, True, True, 365, 1, "")]


def test_opening_hours_are_set_and_taken_away(database: str) -> None:
    made = create(database, "--hours", "mo-fr 09:00-18:30")["client_id"]
    run(database, "set", made, "--hours", "sa 10:00-16:00, mo-fr 9:00-18:30")
    query = "SELECT hours, hours_since IS NULL FROM streams_stream WHERE client_id = %s"
    assert ask(database, query, made) == [("mo-fr 09:00-18:30, sa 10:00-16:00", False)]
    assert "quarter of an hour" in fail(database, "set", made, "--hours", "mo 09:07-10:00")
    refused = fail(database, "set", made, "--silence-alert-minutes", "570")
    assert "--silence-alert-minutes 570: The longest opening lasts 570 minutes" in refused
    assert "Choose less than 570, or 0 for none." in refused
    run(database, "set", made, "--silence-alert-minutes", "569")
    assert "--silence-alert-minutes 569" in fail(database, "set", made, "--hours", "mo 09:00-10:00")
    assert "without opening hours" in fail(database, "create", "Night", "--hours", "mo 09:00-09:15")
    run(database, "set", made, "--hours", "")
    assert ask(database, query, made) == [("", True)]
