"""The data endpoint takes a key in the place of a token: its scope, its reach, its end, pages, tables and the log."""

import json
from typing import Any

import httpx2
import pytest

from organisation_keys import ProgramKey, insert_key, revoke
from readers import PATH, Archive, Reader, Watched, seen
from wire import assert_problem

pytest_plugins = ["endpoint"]

ASKED = {"metrics": "passing_by", "from_date": "2026-03-02T00:00:00Z", "to_date": "2026-03-03T00:00:00Z"}


def ask(reader: Reader, text: str, of: Watched | None, path: str = PATH, **more: Any) -> httpx2.Response:
    named = {"stream": str(of.client_id)} if of else {}
    headers = {"Authorization": f"Bearer {text}"}
    return reader.request("GET", path, params=ASKED | named | more, headers=headers)


@pytest.fixture
def key(archive: Archive, watched: Watched) -> ProgramKey:
    return insert_key(archive.execute, watched.stream_id, "numbers")


def test_a_key_reads_what_a_token_reads(reader: Reader, watched: Watched, key: ProgramKey) -> None:
    reader.archive.write(seen(watched, "2026-03-02T09:30:00Z"))
    answer = ask(reader, key.text, watched)
    assert answer.status_code == 200, answer.text
    assert answer.json()["entities"] == {"global": {"passing_by": {"value": 1}}}
    assert answer.json() == reader.ask(watched, **ASKED).json()


def test_the_next_page_names_the_stream(reader: Reader, watched: Watched, key: ProgramKey) -> None:
    body = ask(reader, key.text, watched, time="by_hour", to_date="2026-03-06T00:00:00Z").json()
    assert f"stream={watched.client_id}" in body["next_page"]
    followed = reader.request("GET", body["next_page"], headers={"Authorization": f"Bearer {key.text}"})
    assert (followed.status_code, followed.json()["page"]) == (200, 2)


def test_a_table_of_several_pages(reader: Reader, watched: Watched, key: ProgramKey) -> None:
    answer = ask(reader, key.text, watched, f"{PATH}.csv", time="by_hour", to_date="2026-03-06T00:00:00Z")
    assert (answer.status_code, len(answer.text.splitlines())) == (200, 97)


@pytest.mark.parametrize("stream", [None, "", "1", "nowhere"])
def test_the_stream_must_be_named(reader: Reader, key: ProgramKey, stream: str | None) -> None:
    answer = ask(reader, key.text, None, **({} if stream is None else {"stream": stream}))
    assert_problem(answer, 400, "bad_request")
    assert "stream=<client_id>" in answer.json()["detail"]


def test_a_stream_that_is_named_twice_is_refused(reader: Reader, watched: Watched, key: ProgramKey) -> None:
    named = f"{PATH}?stream={watched.client_id}&stream={watched.client_id}"
    answer = reader.request("GET", named, headers={"Authorization": f"Bearer {key.text}"})
    assert_problem(answer, 400, "bad_request")


def test_what_a_key_does_not_reach_is_not_there(reader: Reader, archive: Archive, watched: Watched) -> None:
    other = archive.create_stream()
    own, removed = (archive.create_stream() for _ in range(2))
    execute = archive.execute
    for one in (own, removed):
        execute(
            "UPDATE streams_stream SET organisation_id = "
            "(SELECT organisation_id FROM streams_stream WHERE id = %s) WHERE id = %s",
            watched.stream_id,
            one.stream_id,
        )
    execute("UPDATE streams_stream SET removed_at = now() WHERE id = %s", removed.stream_id)
    whole = insert_key(execute, watched.stream_id, "numbers")
    limited = insert_key(execute, watched.stream_id, "numbers", reaches=watched.stream_id)
    assert [ask(reader, whole.text, one).status_code for one in (watched, own, removed, other)] == [200, 200, 404, 404]
    assert [ask(reader, limited.text, one).status_code for one in (watched, own, removed, other)] == [
        200,
        404,
        404,
        404,
    ]
    assert_problem(ask(reader, limited.text, own), 404, "not_found")
    execute("DELETE FROM keys_keystream WHERE key_id = %s", limited.id)
    again = Reader(reader._runner, archive)
    assert ask(again, limited.text, watched).status_code == 404
    again.close()


@pytest.mark.parametrize("scopes", [("manage",), ("enrol", "frames")])
def test_a_key_without_the_scope(reader: Reader, archive: Archive, watched: Watched, scopes: tuple[str, ...]) -> None:
    answer = ask(reader, insert_key(archive.execute, watched.stream_id, *scopes).text, watched)
    assert_problem(answer, 403, "missing_scope")
    assert "numbers" in answer.json()["detail"]


@pytest.mark.parametrize("text", ["onl_", "onl_x", "onl_" + "A" * 43, "onl_" + "A" * 44, "onl_" + "é" * 43])
def test_a_key_that_is_none(reader: Reader, watched: Watched, text: str) -> None:
    headers = {b"Authorization": b"Bearer " + text.encode()}
    answer = reader.request("GET", params=ASKED | {"stream": str(watched.client_id)}, headers=headers)
    assert_problem(answer, 401, "invalid_key")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE keys_organisationkey SET revoked_at = now() WHERE id = %(key)s",
        "UPDATE keys_organisationkey SET expires_at = now() WHERE id = %(key)s",
        "UPDATE accounts_account SET is_active = false WHERE id = %(owner)s",
    ],
)
def test_what_ends_a_key(reader: Reader, archive: Archive, watched: Watched, key: ProgramKey, change: str) -> None:
    import psycopg

    with psycopg.connect(archive.database_url, autocommit=True) as connection:
        connection.execute(change.encode(), {"key": key.id, "owner": watched.owner_id})
    assert_problem(ask(reader, key.text, watched), 401, "invalid_key")


def test_a_revoked_key_is_remembered_for_less_than_a_minute(
    reader: Reader, archive: Archive, watched: Watched, key: ProgramKey
) -> None:
    keys = reader.parts.bearer_keys._cache
    assert keys._remember_s <= 30
    assert keys._stale_limit_s < 60
    assert ask(reader, key.text, watched).status_code == 200
    revoke(archive.execute, key)
    assert ask(reader, key.text, watched).status_code == 200, "from the cache"
    keys._remember_s, kept = 0.0, keys._remember_s
    try:
        assert_problem(ask(reader, key.text, watched), 401, "invalid_key")
    finally:
        keys._remember_s = kept


def test_readings_are_logged_as_the_keys(reader: Reader, archive: Archive, watched: Watched, key: ProgramKey) -> None:
    ask(reader, key.text, watched)
    rows = archive.execute(
        "SELECT actor, detail FROM audit_entry WHERE stream_id = %s AND action = 'numbers.read'", watched.stream_id
    )
    assert [actor for actor, _ in rows] == [f"key:{key.id}"]
    assert set(json.loads(rows[0][1])) == {"kind", "from", "to"}


def test_the_last_use_is_noted(reader: Reader, archive: Archive, watched: Watched, key: ProgramKey) -> None:
    ask(reader, key.text, watched)
    reader._runner.run(reader.parts.key_uses.flush())
    assert archive.execute("SELECT used_at IS NOT NULL FROM keys_organisationkey WHERE id = %s", key.id) == [(True,)]


def test_with_a_token_the_parameter_is_ignored_as_ever(reader: Reader, archive: Archive, watched: Watched) -> None:
    other = archive.create_stream()
    named = ASKED | {"stream": str(other.client_id)}
    answer = reader.request("GET", params=named, headers=reader.bearing(watched))
    assert (answer.status_code, answer.json()) == (200, reader.ask(watched, **ASKED).json())
