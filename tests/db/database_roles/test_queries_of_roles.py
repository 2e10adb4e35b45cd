"""Every query in a file of queries is allowed to the processes that send it."""

import re
from collections.abc import Iterator

import psycopg
import pytest

from onlooker.console.dashboard.fleet_list import FLEET_QUERIES, Order, compile_list
from onlooker.database import load_queries
from onlooker.database_roles.creation import make_logins
from onlooker.database_roles.grants import CONSOLE, DATA, DISPATCHER, GATEWAY, RECORDER
from onlooker.database_roles.logins import Logins
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.fleet import FLEET_STATEMENTS
from onlooker.metrics.rollup import FILL
from onlooker.metrics.statements import (
    READ_TOLD_WEEKS,
    compile_block_insertion,
    compile_block_reading,
    compile_block_slots,
    compile_week_insertion,
    compile_week_people,
    compile_week_reading,
)
from onlooker.migration_check import APPLIED
from onlooker.settings import Settings
from testkit import migrated_database

METERS = (
    *("add_usage", "add_coverage", "add_refusals", "add_blindness", "add_quality"),
    *("note_pictures", "lock_stream", "log_state"),
)
DEVICES = ("read_device_slots", "read_usage", "put_device_slots")
FILES = {
    "streams": load_queries("onlooker.streams"),
    "gateway": load_queries("onlooker.gateway"),
    "visits": load_queries("onlooker.visits"),
    "alerts": load_queries("onlooker.console.alerts"),
    "marks": load_queries("onlooker.metrics", "sql/marks.sql") | {"fill": FILL},
    "coverage": load_queries("onlooker.metrics", "sql/coverage.sql"),
    "comparison": load_queries("onlooker.metrics", "sql/comparison.sql"),
    "in_view": load_queries("onlooker.metrics", "sql/in_view.sql"),
    "quality": load_queries("onlooker.metrics", "sql/quality.sql"),
    "device_share": load_queries("onlooker.metrics", "sql/device_share.sql"),
    "block_release": load_queries("onlooker.metrics", "sql/block_release.sql")
    | {"read_slots": compile_block_slots(), "insert_block": compile_block_insertion()},
    "week_release": load_queries("onlooker.metrics", "sql/week_release.sql")
    | {"read_people": compile_week_people(), "insert_cell": compile_week_insertion()},
    "weeks": {"read_told": READ_TOLD_WEEKS, "read_weeks": compile_week_reading()},
    "blocks": {"read_blocks": compile_block_reading(tuple(METRICS))},
    "erasure": load_queries("onlooker.metrics", "sql/erasure.sql"),
    "fleet": FLEET_STATEMENTS,
    "fleet_list": FLEET_QUERIES | {"list_fleet": compile_list(Order())},
    "audit": load_queries("onlooker.audit"),
    "devices": load_queries("onlooker.devices"),
    "keys": load_queries("onlooker.keys"),
    "migrations": {"applied": APPLIED},
}
FORGETTING = ("lock_progress", "forget_blocks", "forget_blocks_of")
"""Sent by who deletes a range of visits."""
SENT: dict[str, dict[str, tuple[str, ...]]] = {
    GATEWAY: {
        "migrations": ("applied",),
        "streams": ("find_stream", "put_condition", *METERS, *DEVICES),
        "devices": ("list_revoked",),
        "keys": ("note_uses",),
        "gateway": (
            *("count_waiting", "accept_job", "find_job", "remove_job", "waiting_in_session"),
            *("add_blob", "find_blob", "remove_blob"),
        ),
    },
    DISPATCHER: {
        "migrations": ("applied",),
        "streams": METERS,
        "gateway": (
            *(
                "waiting_jobs",
                "lease_jobs",
                "renew_leases",
                "release_job",
                "count_death",
                "finish_job",
                "overdue_jobs",
                "sweep_jobs",
            ),
            *("expired_blobs", "sweep_blobs", "keep_workers", "forget_workers"),
        ),
    },
    RECORDER: {
        "migrations": ("applied",),
        "visits": tuple(FILES["visits"]),
        "marks": tuple(FILES["marks"]),
        "block_release": tuple(name for name in FILES["block_release"] if not name.startswith("forget_blocks")),
        "week_release": tuple(FILES["week_release"]),
    },
    DATA: {
        "migrations": ("applied",),
        "weeks": tuple(FILES["weeks"]),
        "audit": ("note_reading",),
        "streams": ("find_bearer", "list_public_keys"),
        "keys": ("find_key_bearer", "note_uses"),
        "coverage": tuple(FILES["coverage"]),
        "comparison": tuple(name for name in FILES["comparison"] if name != "read_watched_days"),
        "in_view": tuple(FILES["in_view"]),
        "quality": tuple(FILES["quality"]),
        "blocks": tuple(FILES["blocks"]),
    },
    CONSOLE: {
        "migrations": ("applied",),
        "streams": ("read_statuses", "log_state"),
        "visits": ("delete_expired",),
        "alerts": tuple(name for name in FILES["alerts"] if name != "look_up_only"),
        "coverage": tuple(FILES["coverage"]),
        "comparison": tuple(FILES["comparison"]),
        "in_view": tuple(FILES["in_view"]),
        "quality": tuple(FILES["quality"]),
        "device_share": tuple(FILES["device_share"]),
        "blocks": tuple(FILES["blocks"]),
        "block_release": FORGETTING,
        "erasure": tuple(FILES["erasure"]),
        "fleet": tuple(FILES["fleet"]),
        "fleet_list": tuple(name for name in FILES["fleet_list"] if name != "look_up_only"),
        "audit": tuple(FILES["audit"]),
        "devices": tuple(name for name in FILES["devices"] if name != "list_revoked"),
    },
}
WITHOUT_TABLES = {("alerts", "look_up_only"), ("fleet_list", "look_up_only")}
CASES = [(process, file, name) for process, files in SENT.items() for file, names in files.items() for name in names]


@pytest.fixture(scope="module")
def logins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logins]:
    with migrated_database() as url, psycopg.connect(url, autocommit=True) as owner:
        made, refused = make_logins(owner, Settings(home=str(tmp_path_factory.mktemp("home")), database_url=url))
        assert not refused
        yield made


def explained(query: str) -> str:
    """PostgreSQL checks permissions before it explains. Values do not matter for that."""
    query = re.sub(r"(ANY|ALL)\(%\(\w+\)s\)", r"\1('{}')", query.rstrip().rstrip(";"))
    query = re.sub(r"%\((now|\w+_at)\)s(?!::)", "NULL::timestamptz", query)
    query = re.sub(r"%\(\w+_s\)s(?!::)", "NULL::float8", query)
    return "EXPLAIN " + re.sub(r"%\(\w+\)s", "NULL", query).replace("%%", "%")


def test_every_query_is_sent_by_a_process() -> None:
    known = {(file, name) for file, queries in FILES.items() for name in queries} - WITHOUT_TABLES
    assert {(file, name) for _, file, name in CASES} == known


@pytest.mark.parametrize(("process", "file", "name"), CASES)
def test_a_query_is_allowed_to_those_who_send_it(logins: Logins, process: str, file: str, name: str) -> None:
    with psycopg.connect(logins.urls[process], autocommit=True) as connection:
        assert connection.execute(explained(FILES[file][name]).encode()).fetchall()


def test_a_query_is_refused_to_others(logins: Logins) -> None:
    with (
        psycopg.connect(logins.urls[DATA], autocommit=True) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(explained(FILES["streams"]["find_stream"]).encode())
