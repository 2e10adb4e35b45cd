"""The database writes the audit log itself: every change, in one chain, for good."""

import json
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from onlooker.audit.chain import ChainEnds, CheckedChain, LoggedEntry, check_chain, moment_text
from onlooker.database_roles.creation import make_logins
from onlooker.database_roles.grants import CONSOLE, DATA, DISPATCHER, GATEWAY, PROCESSES, RECORDER
from onlooker.database_roles.logins import Logins
from onlooker.settings import Settings
from recorder_process import create_stream
from testkit import migrated_database

NOTE = "INSERT INTO audit_entry (stream_id, actor, action, detail) VALUES (%s, 'account:1', 'numbers.read', '{}')"
Log = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with migrated_database() as made:
        yield made


@pytest.fixture(scope="module")
def logins(database: str, tmp_path_factory: pytest.TempPathFactory) -> Logins:
    with psycopg.connect(database, autocommit=True) as owner:
        home = Path(tmp_path_factory.mktemp("home"))
        made, refused = make_logins(owner, Settings(home=str(home), database_url=database))
    assert not refused
    return made


@pytest.fixture
def stream_id(database: str) -> int:
    return create_stream(database)


def execute(url: str, query: str, *values: object) -> Log:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query, values)
        return cursor.fetchall() if cursor.description else []


def as_actor(url: str, actor: str, query: str, *values: object) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('onlooker.actor', %s, true)", [actor])
        connection.execute(query, values)


def log_of(url: str, stream_id: int) -> Log:
    """Without the stream's creation."""
    query = "SELECT actor, action, detail FROM audit_entry WHERE stream_id = %s AND number > 1 ORDER BY number"
    return execute(url, query, stream_id)


def check(url: str, stream_id: int) -> CheckedChain:
    rows = execute(url, "SELECT * FROM audit_entry WHERE stream_id = %s ORDER BY number", stream_id)
    entries = [
        LoggedEntry(number_of, number, moment_text(at), role, actor, action, detail, previous.hex(), digest.hex())
        for number_of, number, at, role, actor, action, detail, previous, digest in rows
    ]
    ((first, last, digest),) = execute(
        url, "SELECT first_number, last_number, last_hash FROM audit_chain WHERE stream_id = %s", stream_id
    )
    return check_chain(entries, ChainEnds(first, last, digest.hex()))


def test_every_setting_of_a_stream_is_logged_and_nothing_of_its_bookkeeping(database: str, stream_id: int) -> None:
    """Settings that are added to the table later are among them: nothing names them one by one."""
    execute(database, "ALTER TABLE streams_stream ADD COLUMN IF NOT EXISTS added_later text NOT NULL DEFAULT 'a'")
    change = "UPDATE streams_stream SET retention_days = 90, reads_age = false, added_later = 'ü' WHERE id = %s"
    as_actor(database, "account:5", change, stream_id)
    execute(database, "UPDATE streams_stream SET coverage_since = now() WHERE id = %s", stream_id)
    execute(database, "UPDATE streams_stream SET retention_days = 90 WHERE id = %s", stream_id)
    (entry,) = log_of(database, stream_id)
    changed = '{"reads_age": [true, false], "added_later": ["a", "ü"], "retention_days": [365, 90]}'
    assert entry == ("account:5", "stream.changed", changed)
    assert check(database, stream_id).fault == ""


def test_what_nobody_declares_is_the_connected_role_s(database: str, stream_id: int) -> None:
    execute(database, "UPDATE streams_stream SET enabled = false WHERE id = %s", stream_id)
    role = execute(database, "SELECT session_user")[0][0]
    assert log_of(database, stream_id) == [(f"role:{role}", "stream.changed", '{"enabled": [true, false]}')]


def test_passwords_and_people_are_logged_by_number_and_without_secrets(database: str, stream_id: int) -> None:
    secret, address = uuid.uuid4().bytes, f"somebody.{uuid.uuid4().hex}@example.org"
    add = "INSERT INTO streams_accesstoken (stream_id, sha256, created_at) VALUES (%s, %s, now()) RETURNING id"
    password = execute(database, add, stream_id, secret)[0][0]
    execute(database, "UPDATE streams_accesstoken SET expires_at = '2030-01-01Z' WHERE id = %s", password)
    execute(database, "DELETE FROM streams_accesstoken WHERE id = %s", password)
    organisation = organisation_of(database, stream_id)
    execute(
        database,
        """INSERT INTO members_invitation (id, organisation_id, email, role, invited_at, expires_at)
           VALUES (gen_random_uuid(), %s, %s, 'analyst', now(), now())""",
        *(organisation, address),
    )
    execute(database, "DELETE FROM members_invitation WHERE organisation_id = %s", organisation)
    told = [action for _, action, _ in log_of(database, stream_id)]
    assert told == ["password.created", "password.changed", "password.deleted"]
    told_of = organisation_log(database, organisation)[-2:]
    assert [(action, json.loads(detail)) for _, action, detail in told_of] == [
        ("member.invited", {"address": "s...@example.org", "role": "analyst"}),
        ("invitation.ended", {"address": "s...@example.org"}),
    ]
    text = str(log_of(database, stream_id) + told_of)
    assert address not in text
    assert secret.hex() not in text


def organisation_of(database: str, stream_id: int) -> int:
    return int(execute(database, "SELECT organisation_id FROM streams_stream WHERE id = %s", stream_id)[0][0])


def organisation_log(database: str, organisation: int) -> list[tuple[Any, ...]]:
    told = "SELECT actor, action, detail FROM audit_organisationentry WHERE organisation_id = %s ORDER BY number"
    return execute(database, told, organisation)


def test_an_account_that_is_disabled_is_in_the_logs_of_its_organisations(database: str, stream_id: int) -> None:
    disable = (
        "UPDATE accounts_account SET is_active = %s WHERE id = (SELECT owner_id FROM streams_stream WHERE id = %s)"
    )
    as_actor(database, "staff:3", disable, False, stream_id)
    as_actor(database, "staff:3", disable, True, stream_id)
    told = organisation_log(database, organisation_of(database, stream_id))[-2:]
    assert [(actor, action) for actor, action, _ in told] == [("staff:3", "account.changed")] * 2


def test_writers_at_the_same_time_make_one_chain(database: str, logins: Logins, stream_id: int) -> None:
    """Two roles, eight connections: one number after another, each with the hash before it."""
    ready = threading.Barrier(8)

    def write(process: str) -> None:
        with psycopg.connect(logins.urls[process], autocommit=True) as connection:
            ready.wait()
            for _ in range(50):
                connection.execute(NOTE, [stream_id])

    writers = [threading.Thread(target=write, args=[process]) for process in (DATA, CONSOLE) * 4]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    checked = check(database, stream_id)
    assert (checked.fault, checked.entries) == ("", 401)
    roles = execute(database, "SELECT DISTINCT role FROM audit_entry WHERE stream_id = %s AND number > 1", stream_id)
    assert {role for (role,) in roles} == {logins.role(DATA), logins.role(CONSOLE)}, "told by the database"


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("table", ["audit_entry", "audit_chain"])
def test_no_role_changes_or_deletes_entries(logins: Logins, stream_id: int, process: str, table: str) -> None:
    column = {"audit_entry": "detail = ''", "audit_chain": "last_number = 0"}[table]
    for statement in (f"UPDATE {table} SET {column}", f"DELETE FROM {table}", f"TRUNCATE {table}"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            execute(logins.urls[process], statement)


@pytest.mark.parametrize("process", [GATEWAY, DISPATCHER, RECORDER])
def test_other_processes_do_not_write_it(logins: Logins, stream_id: int, process: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(logins.urls[process], NOTE, stream_id)


def test_a_data_endpoint_writes_there_and_when_a_key_was_used(database: str, logins: Logins, stream_id: int) -> None:
    execute(logins.urls[DATA], NOTE, stream_id)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(logins.urls[DATA], "SELECT * FROM audit_entry")
    for column, value in (("number", 9), ("at", "2020-01-01Z"), ("role", "x"), ("hash", b"x"), ("previous_hash", b"x")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            execute(
                logins.urls[DATA],
                f"INSERT INTO audit_entry (stream_id, actor, action, detail, {column}) VALUES (%s, '', '', '{{}}', %s)",
                *(stream_id, value),
            )
    writable = execute(
        database,
        """SELECT relname, array_agg(DISTINCT attname::text) FROM pg_class
           JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
           WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
             AND (has_column_privilege(%(role)s, pg_class.oid, attnum, 'INSERT')
                  OR has_column_privilege(%(role)s, pg_class.oid, attnum, 'UPDATE')
                  OR has_table_privilege(%(role)s, pg_class.oid, 'DELETE'))
           GROUP BY relname ORDER BY relname""".replace("%(role)s", f"'{logins.role(DATA)}'"),
    )
    assert [name for name, _ in writable] == ["audit_entry", "keys_organisationkey"]
    assert writable[1] == ("keys_organisationkey", ["used_at"])  # when a key was last used


def test_even_the_owner_of_the_tables_is_refused(database: str, stream_id: int) -> None:
    for statement in (
        "UPDATE audit_entry SET detail = '{}' WHERE stream_id = %s",
        "DELETE FROM audit_entry WHERE stream_id = %s",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="only grows"):
            execute(database, statement, stream_id)


def test_who_gets_around_all_that_is_found(database: str, stream_id: int) -> None:
    for _ in range(5):
        execute(database, NOTE, stream_id)
    with psycopg.connect(database, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("UPDATE audit_entry SET actor = 'account:9' WHERE stream_id = %s AND number = 4", [stream_id])
    assert check(database, stream_id).broken_number == 4


def age(url: str, stream_id: int, *, before: int, days: int) -> None:
    """Make entries look older, as a superuser can; their hashes are computed again."""
    with psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        for (number,) in superuser.execute(
            "SELECT number FROM audit_entry WHERE stream_id = %s ORDER BY number", [stream_id]
        ).fetchall():
            superuser.execute(
                """UPDATE audit_entry SET at = at - %(days)s * interval '1 day', previous_hash = coalesce(
                       (SELECT hash FROM audit_entry WHERE stream_id = %(stream)s AND number = %(number)s - 1), '')
                   WHERE stream_id = %(stream)s AND number = %(number)s""",
                {"days": days if number < before else 0, "stream": stream_id, "number": number},
            )
            superuser.execute(
                """UPDATE audit_entry entry SET hash = audit_hash(entry) WHERE stream_id = %s AND number = %s""",
                [stream_id, number],
            )
        superuser.execute(
            """UPDATE audit_chain SET last_hash = (SELECT hash FROM audit_entry WHERE stream_id = %(stream)s
               ORDER BY number DESC LIMIT 1) WHERE stream_id = %(stream)s""",
            {"stream": stream_id},
        )


def test_what_is_past_its_time_ends_and_the_rest_stays_checkable(database: str, logins: Logins, stream_id: int) -> None:
    for _ in range(5):
        execute(database, NOTE, stream_id)
    age(database, stream_id, before=4, days=200)
    assert execute(logins.urls[CONSOLE], "SELECT audit_end(%s)", stream_id) == [(0,)], "365 days unless chosen"
    execute(logins.urls[CONSOLE], "INSERT INTO audit_retention (stream_id, days) VALUES (%s, 100)", stream_id)
    assert log_of(database, stream_id)[-1][1:] == ("stream.changed", '{"audit_days": [365, 100]}')
    assert execute(logins.urls[CONSOLE], "SELECT audit_end(%s)", stream_id) == [(3,)]
    checked = check(database, stream_id)
    assert (checked.fault, checked.entries, checked.last_number) == ("", 4, 7)
    with psycopg.connect(database, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("DELETE FROM audit_entry WHERE stream_id = %s AND number = 4", [stream_id])
    assert "Entry 4 is missing" in check(database, stream_id).fault, "one that the chore had left"


def test_a_log_goes_on_after_all_of_it_has_ended(database: str, logins: Logins, stream_id: int) -> None:
    age(database, stream_id, before=99, days=400)
    assert execute(logins.urls[CONSOLE], "SELECT audit_end(%s)", stream_id) == [(1,)]
    assert (check(database, stream_id).fault, check(database, stream_id).entries) == ("", 0)
    execute(database, NOTE, stream_id)
    checked = check(database, stream_id)
    assert (checked.fault, checked.last_number) == ("", 2)


def test_only_the_console_ends_entries(logins: Logins, stream_id: int) -> None:
    for process in (GATEWAY, DISPATCHER, RECORDER, DATA):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            execute(logins.urls[process], "SELECT audit_end(%s)", stream_id)


def test_a_removed_stream_gets_no_entries_and_loses_those_it_has(database: str, logins: Logins, stream_id: int) -> None:
    remove = "UPDATE streams_stream SET removed_at = now(), owner_id = NULL, name = '' WHERE id = %s"
    execute(database, remove, stream_id)
    execute(logins.urls[DATA], NOTE, stream_id)
    assert log_of(database, stream_id) == []
    assert execute(logins.urls[CONSOLE], "SELECT audit_end(%s)", stream_id) == [(1,)]
    assert execute(database, "SELECT FROM audit_chain WHERE stream_id = %s", stream_id) == []


def test_a_stream_that_is_deleted_at_once_takes_its_log_along(database: str, stream_id: int) -> None:
    execute(database, "DELETE FROM streams_stream WHERE id = %s", stream_id)
    assert execute(database, "SELECT FROM audit_entry WHERE stream_id = %s", stream_id) == []
