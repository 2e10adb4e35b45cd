"""A trace in a database is found: in its files by a superuser, in its rows by a role that may not read files."""

import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest

from onlooker.proof.database_contents import DatabaseContents
from onlooker.proof.marked_pictures import draw_picture
from onlooker.proof.picture_traces import PictureMarks, find_traces
from testkit import fresh_database

ROLE, PASSWORD = "onlooker_proof_reader", "not a secret"


@pytest.fixture
def database() -> Iterator[str]:
    with fresh_database() as url:
        yield url


@pytest.fixture
def limited(database: str) -> Iterator[str]:
    """URL of a role that owns a table and nothing else."""
    with psycopg.connect(database, autocommit=True) as superuser:
        superuser.execute(f"DROP ROLE IF EXISTS {ROLE}")
        superuser.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'")
        superuser.execute(f"GRANT CREATE ON SCHEMA public TO {ROLE}")
    address = urlsplit(database)
    place = address.netloc.rpartition("@")[2]
    yield address._replace(netloc=f"{ROLE}:{PASSWORD.replace(' ', '%20')}@{place}").geturl()
    with psycopg.connect(database, autocommit=True) as superuser:
        superuser.execute(f"DROP OWNED BY {ROLE}")
        superuser.execute(f"DROP ROLE {ROLE}")


def store(url: str, content: bytes) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (content bytea)")
        connection.execute("INSERT INTO kept VALUES (%s)", [content])


def test_superuser_finds_it_in_tables_and_log(database: str) -> None:
    contents = DatabaseContents(database, began_at=time.time() - 2)
    frame = draw_picture()
    marks = PictureMarks([frame])
    store(database, frame.tobytes())
    limits: list[str] = []
    assert contents.reads_files
    assert any(any(find_traces(part, marks)) for _, part in contents.read_tables(limits))
    logs = [(name, any(find_traces(part, marks, only_known=True))) for name, part in contents.read_logs(limits)]
    assert any(found for name, found in logs if name.startswith("write-ahead log"))


def test_other_role_finds_it_in_rows_and_says_what_it_could_not_read(limited: str) -> None:
    contents = DatabaseContents(limited, began_at=time.time() - 2)
    frame = draw_picture()
    store(limited, frame.tobytes())
    limits: list[str] = []
    assert not contents.reads_files
    assert any(any(find_traces(part, PictureMarks([frame]))) for _, part in contents.read_tables(limits))
    assert not list(contents.read_logs(limits))
    assert "write-ahead log" in " ".join(limits)


@pytest.mark.parametrize("role", ["superuser", "other role"])
def test_planted_row_is_found_and_gone(database: str, limited: str, role: str) -> None:
    url = database if role == "superuser" else limited
    frame = draw_picture()
    contents = DatabaseContents(url, began_at=time.time() - 2)
    assert any(any(find_traces(part, PictureMarks([frame]))) for _, part in contents.read_planted(frame.tobytes()))
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT to_regclass('onlooker_proof_planted')").fetchone() == (None,)


def test_rows_of_earlier_transactions_are_not_read(limited: str) -> None:
    store(limited, b"before")
    with psycopg.connect(limited, autocommit=True) as connection:
        for _ in range(3):
            connection.execute("SELECT pg_current_xact_id()")
    contents = DatabaseContents(limited, began_at=time.time())
    assert not [name for name, _ in contents.read_tables([]) if name == "kept"]
