"""`onlooker stream`: what each option sets, and what is refused."""

import json

import pytest
from click.testing import CliRunner, Result
from django.db import connection

from onlooker.cli import main

pytestmark = pytest.mark.django_db(transaction=True)


def invoke(*arguments: str, code: int = 0, typed: str = "") -> Result:
    result = CliRunner().invoke(main, ["stream", *arguments], input=typed)
    assert result.exit_code == code, result.output
    return result


def run(*arguments: str, code: int = 0, typed: str = "") -> str:
    return invoke(*arguments, code=code, typed=typed).output


def fail(*arguments: str) -> str:
    """A wrong use; what is said about it, without line breaks and frames."""
    return " ".join(run(*arguments, code=2).replace("│", " ").split())


def ask(query: str, *values: object) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall()


def create(*options: str) -> dict[str, str]:
    made: dict[str, str] = json.loads(invoke("create", "Front door", "--json", *options).stdout)
    return made


def test_the_kind_is_told_and_can_be_changed() -> None:
    said = run("create", "Front door")
    assert "(enterprise)" in said
    client_id = create("--kind", "developer")["client_id"]
    run("set", client_id, "--kind", "enterprise")
    assert ask("SELECT kind FROM streams_stream WHERE client_id = %s", client_id) == [("enterprise",)]


def test_expression_is_read_only_where_it_is_switched_on() -> None:
    query = "SELECT reads_age, reads_gender, reads_expression FROM streams_stream WHERE client_id = %s"
    off, on = create()["client_id"], create("--expression")["client_id"]
    assert (ask(query, off), ask(query, on)) == ([(True, True, False)], [(True, True, True)])
    run("set", off, "--expression")
    run("set", on, "--no-expression")
    assert (ask(query, off), ask(query, on)) == ([(True, True, True)], [(True, True, False)])


def test_a_stream_is_made_and_set_with_a_time_zone_and_a_silence() -> None:
    client_id = create("--time-zone", "Europe/Paris")["client_id"]
    run("set", client_id, "--time-zone", "Asia/Tokyo", "--silence-alert-minutes", "0")
    run("set", client_id, "--blind-alert-minutes", "45")
    run("set", client_id, "--unusual-alert")
    query = """SELECT time_zone, silence_alert_minutes, blind_alert_minutes, unusual_alert
               FROM streams_stream WHERE client_id = %s"""
    assert ask(query, client_id) == [("Asia/Tokyo", 0, 45, True)]


def test_rotating_prints_a_new_access_token_once() -> None:
    made = create()
    said = run("rotate", made["client_id"], "--grace-hours", "0.5")
    assert made["access_token"] not in said
    assert "not shown again" in said
    query = """SELECT token.expires_at IS NULL, token.expires_at - now() < interval '31 minutes'
               FROM streams_accesstoken token JOIN streams_stream stream ON stream.id = token.stream_id
               WHERE stream.client_id = %s ORDER BY token.id"""
    assert ask(query, made["client_id"]) == [(False, True), (True, None)]


def test_removing_asks_first() -> None:
    client_id = create()["client_id"]
    query = "SELECT removed_at IS NULL FROM streams_stream WHERE client_id = %s"
    run("remove", client_id, typed="n\n", code=1)
    assert ask(query, client_id) == [(True,)]
    run("remove", client_id, "--yes")
    assert ask(query, client_id) == [(False,)]
    assert client_id not in run("list")
    assert "There is no stream" in run("rotate", client_id, code=1)


PRESET = """SELECT reads_faces, reads_age, reads_gender, reads_expression, retention_days, groups_of, place
            FROM streams_stream WHERE client_id = %s"""


def test_a_preset_sets_a_stream_in_one_step() -> None:
    made = create("--preset", "counts", "--place", "workplace")["client_id"]
    assert ask(PRESET, made) == [(False, False, False, False, 90, 1, "workplace")]
    run("set", made, "--preset", "audience", "--notice-given")
    assert ask(PRESET, made) == [(True, True, True, False, 90, 5, "workplace")]
    run("set", made, "--preset", "counts", "--retention-days", "30")
    assert ask(PRESET, made) == [(False, False, False, False, 30, 5, "workplace")]


def test_a_preset_needs_its_notice_and_a_place_that_allows_it() -> None:
    made = create()["client_id"]
    assert "Tell the people" in fail("set", made, "--preset", "everything")
    everything = ("--preset", "everything", "--notice-given", "--place", "school")
    assert "art. 5(1)(f)" in fail("set", made, *everything)
    run("set", made, "--expression")
    assert "art. 5(1)(f)" in fail("set", made, "--place", "workplace")
    assert ask(PRESET, made) == [(True, True, True, True, 365, 1, "")]


def test_opening_hours_are_set_and_taken_away() -> None:
    made = create("--hours", "mo-fr 09:00-18:30")["client_id"]
    run("set", made, "--hours", "sa 10:00-16:00, mo-fr 9:00-18:30")
    query = "SELECT hours, hours_since IS NULL FROM streams_stream WHERE client_id = %s"
    assert ask(query, made) == [("mo-fr 09:00-18:30, sa 10:00-16:00", False)]
    assert "quarter of an hour" in fail("set", made, "--hours", "mo 09:07-10:00")
    refused = fail("set", made, "--silence-alert-minutes", "570")
    assert "--silence-alert-minutes 570: The longest opening lasts 570 minutes" in refused
    assert "Choose less than 570, or 0 for none." in refused
    run("set", made, "--silence-alert-minutes", "569")
    assert "--silence-alert-minutes 569" in fail("set", made, "--hours", "mo 09:00-10:00")
    assert "without opening hours" in fail("create", "Night", "--hours", "mo 09:00-09:15")
    run("set", made, "--hours", "")
    assert ask(query, made) == [("", True)]
