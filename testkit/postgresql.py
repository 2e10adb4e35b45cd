"""Databases for tests: an empty or a migrated one on the server there is, or on a cluster of the test's own."""

import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

import onlooker
from onlooker.demo.postgresql import Cluster, kept_cluster
from testkit.ports import free_ports


def server_url() -> str:
    """The PostgreSQL that tests use: `TEST_DATABASE_URL`, or the one on this machine."""
    return os.environ.get("TEST_DATABASE_URL", "postgresql://127.0.0.1:5432/test")


@contextmanager
def fresh_database(server: str | None = None, *, template: str = "template1") -> Iterator[str]:
    """URL of a new database, dropped on leaving; empty, unless a template is named."""
    server = server or server_url()
    name = f"onlooker_test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield _url_of(server, name)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            for (role,) in connection.execute(
                "SELECT rolname FROM pg_roles WHERE starts_with(rolname, %s)", [f"{name}_"]
            ):
                connection.execute(f"DROP ROLE {role}")


@contextmanager
def migrated_database(server: str | None = None) -> Iterator[str]:
    """URL of a new database with all tables and no rows, dropped on leaving."""
    with fresh_database(server, template=migrated_template(server)) as url:
        yield url


def migrated_template(server: str | None = None) -> str:
    """Name of a migrated database to copy: made once on each server, whichever process of a test run comes first.

    It stays there for the next run, until a migration changes.
    """
    server = server or server_url()
    name = f"onlooker_template_{_migrations_digest()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(hashtext(%s))", [name])  # until the connection is closed
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s AND datistemplate", [name]).fetchone():
            return name
        connection.execute(f"DROP DATABASE IF EXISTS {name}")
        connection.execute(f"CREATE DATABASE {name}")
        environment = os.environ | {"ONLOOKER_DATABASE_URL": _url_of(server, name)}
        subprocess.run([sys.executable, "-m", "onlooker", "migrate"], check=True, env=environment)
        connection.execute(f"ALTER DATABASE {name} IS_TEMPLATE true ALLOW_CONNECTIONS false")
    return name


def _migrations_digest() -> str:
    files = sorted(Path(onlooker.__file__).parent.rglob("migrations/*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def _url_of(server: str, name: str) -> str:
    address = urlsplit(server)
    return f"{address.scheme}://{address.netloc}/{name}" + (f"?{address.query}" if address.query else "")


@contextmanager
def own_cluster(*tuning: str) -> Iterator[Cluster]:
    """A new cluster on a free port, removed on leaving; with settings of the server as `name=value`."""
    folder = Path(tempfile.mkdtemp(prefix="onlooker-postgresql-"))
    try:
        with kept_cluster(folder, free_ports(1)[0], *tuning, stop="immediate") as cluster:
            yield cluster
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def own_standby(primary: Cluster) -> Iterator[Cluster]:
    """A standby that follows a cluster of the test's own, removed on leaving."""
    folder = Path(tempfile.mkdtemp(prefix="onlooker-postgresql-"))
    try:
        shutil.chown(folder, primary.user)
        standby = replace(primary, data=folder / "data", port=free_ports(1)[0])
        command = [str(primary.programs / "pg_basebackup"), "-D", str(standby.data), "-R", "-c", "fast", "--no-sync"]
        subprocess.run([*command, "-d", primary.url], check=True, user=primary.user, cwd="/")
        standby.control("start")
        try:
            yield standby
        finally:
            standby.control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
