"""What an attacker tries who runs code in a process of ours, with what that process has."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import LiteralString

import psycopg

from bench.abuse.system_access import connect_to, list_folder, read_file, read_memory, write_file
from bench.abuse.takeover.bus_session import BusSession

Reach = Callable[[], object]


@dataclass(frozen=True)
class Neighbourhood:
    """What the attacker is told about the installation: nothing has to be guessed."""

    home: str
    others: dict[str, int]
    """Process ids by name, without the own one."""
    roles: list[str]
    """Of the database, without the own one; the first may create roles."""
    database: str
    """URL of the database, without a user."""
    bus_port: int
    outside_port: int
    """Where something listens that stands for another host."""


def find_reaches(around: Neighbourhood) -> dict[str, Reach]:
    """By name, in the order of the table."""
    return _processes(around) | _files(Path(around.home)) | _database(around) | _bus(around.bus_port) | _machine(around)


def _processes(around: Neighbourhood) -> dict[str, Reach]:
    pids = list(around.others.values())
    return {
        "read the variables of another process": lambda: _first(_variables, pids),
        "read the memory of another process": lambda: _first(read_memory, pids),
        "end another process": lambda: _first(lambda pid: os.kill(pid, 0), pids),
    }


def _files(home: Path) -> dict[str, Reach]:
    return {
        "list the home folder": lambda: list_folder(home),
        "write to the home folder": lambda: write_file(home / "takeover"),
        "read the console's secret key": lambda: read_file(home / "secret_key"),
        "read the key of the local authority": lambda: read_file(home / "tls" / "ca.key"),
        "read the key of the certificate": lambda: read_file(home / "tls" / "server.key"),
        "read the passwords of the bus": lambda: read_file(home / "nats" / "passwords.json"),
        "read the passwords of the database": lambda: read_file(home / "database" / "migrations"),
        "read what waits on the bus": lambda: list_folder(home / "nats" / "jetstream"),
        "read and write blobs": lambda: (list_folder(home / "blobs"), write_file(home / "blobs" / "takeover")),
        "read other files of the user": lambda: read_file(home.parent / "diary"),
        "read the system's files": lambda: read_file(Path("/etc/passwd")),
    }


STATEMENTS: dict[str, tuple[LiteralString, ...]] = {
    "read addresses and password hashes of accounts": ("SELECT email, password FROM accounts_account LIMIT 1",),
    "change accounts": ("UPDATE accounts_account SET is_staff = true WHERE false",),
    "read the hashes of streams' Passwords": ("SELECT sha256 FROM streams_accesstoken LIMIT 1",),
    "give a stream another Password": ("UPDATE streams_accesstoken SET sha256 = sha256 WHERE false",),
    "change or delete streams": (
        "UPDATE streams_stream SET enabled = false WHERE false",
        "DELETE FROM streams_stream WHERE false",
    ),
    "read the sealed keys that sign tokens": ("SELECT sealed_private_pem FROM tokens_signingkey LIMIT 1",),
    "read frames of accepted jobs": ("SELECT params FROM gateway_job LIMIT 1",),
    "read visits": ("SELECT * FROM visits_visit LIMIT 1",),
    "write visits": ("UPDATE visits_visit SET revision = revision WHERE false",),
    "delete visits": ("DELETE FROM visits_visit WHERE false",),
    "change the roll-up": ("UPDATE metrics_slot SET reaches_at = reaches_at WHERE false",),
    "read what customers pay": ("SELECT * FROM billing_subscription LIMIT 1",),
    "create tables": ("CREATE TABLE takeover ()",),
    "drop tables": ("DROP TABLE visits_mark",),
    "create a role": ("CREATE ROLE takeover",),
    "read files of the database's server": ("SELECT pg_read_file('PG_VERSION')",),
    "run a program on the database's server": ("COPY (SELECT 1) TO PROGRAM 'true'",),
}
"""Each is tried in a transaction that is rolled back. A statement that concerns no row is refused all the same."""


def _database(around: Neighbourhood) -> dict[str, Reach]:
    statements: dict[str, Reach] = {name: partial(_execute, some) for name, some in STATEMENTS.items()}
    return statements | {
        "become another role of the database": lambda: _first(_become, around.roles),
        "log in to the database as another": lambda: _first(lambda role: _log_in(around.database, role), around.roles),
    }


def _bus(port: int) -> dict[str, Reach]:
    def on_bus(*commands: str) -> Reach:
        return lambda: BusSession.of_this_process(port).run(*commands)

    return {
        "be given a worker's frames": on_bus("SUB compute.worker-1.> 1"),
        "give workers tasks": on_bus("PUB compute.worker-1.takeover 0\r\n"),
        "publish visits": on_bus("PUB visits.0 0\r\n"),
        "take visits off the bus": on_bus("PUB $JS.API.CONSUMER.MSG.NEXT.VISITS.recorder takeover 0\r\n"),
        "read session states": on_bus("PUB $JS.API.DIRECT.GET.KV_session-states-0.takeover takeover 0\r\n"),
        "write session states": on_bus("PUB $KV.session-states-0.takeover 0\r\n"),
        "delete a stream of the bus": on_bus("PUB $JS.API.STREAM.DELETE.takeover takeover 0\r\n"),
        "hear everything on the bus": on_bus("SUB > 1"),
    }


def _machine(around: Neighbourhood) -> dict[str, Reach]:
    return {
        "run a program": lambda: subprocess.run(["/bin/true"], check=True, timeout=5),
        "gain rights by a setuid program": _new_privileges,
        "connect to another host": lambda: connect_to(around.outside_port),
    }


def _first(reach: Callable[..., object], targets: Iterable[object]) -> object:
    """What the first target gives that gives anything."""
    refusal: Exception = PermissionError("there is none")
    for target in targets:
        try:
            return reach(target)
        except Exception as error:  # noqa: BLE001 (whatever it is, it was refused)
            refusal = error
    raise refusal


def _variables(pid: int) -> str:
    found = Path(f"/proc/{pid}/environ").read_bytes()
    if not found:
        raise PermissionError("none")
    return f"{len(found)} bytes"


def _execute(statements: tuple[LiteralString, ...]) -> str:
    with psycopg.connect(os.environ["ONLOOKER_DATABASE_URL"], connect_timeout=5) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.rollback()
    return f"{statements}"


def _become(role: str) -> str:
    with psycopg.connect(os.environ["ONLOOKER_DATABASE_URL"], connect_timeout=5) as connection:
        connection.execute(psycopg.sql.SQL("SET ROLE {}").format(psycopg.sql.Identifier(role)))
    return role


def _log_in(database: str, role: str) -> str:
    """With no password, and with the own one."""
    own = psycopg.conninfo.conninfo_to_dict(os.environ.get("ONLOOKER_DATABASE_URL", "")).get("password")
    return str(_first(lambda word: psycopg.connect(database, user=role, password=word, connect_timeout=5), ("", own)))


def _new_privileges() -> str:
    """The kernel's own word: no program gives this process more rights than it has."""
    status = Path("/proc/self/status").read_text()
    if "NoNewPrivs:\t1" in status:
        raise PermissionError("no_new_privs")
    return "a setuid program would have its owner's rights"


def make_all(around: Neighbourhood) -> dict[str, str]:
    """What each reach gave; empty where it was refused."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    got = {}
    for name, reach in find_reaches(around).items():
        try:
            got[name] = str(reach())[:200] or "yes"
        except Exception:  # noqa: BLE001 (whatever it is, it was refused)
            got[name] = ""
    return got
