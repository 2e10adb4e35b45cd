"""pg_dump and pg_restore, with their connection in variables: arguments can be read by every user of a machine."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from psycopg import pq
from psycopg.conninfo import conninfo_to_dict

from onlooker.settings import SettingsError

PASSING_TABLES = (
    "console_cache",
    "django_session",
    "gateway_blob",
    "gateway_job",
    "gateway_listedworker",
    "tokens_failure",
    "usersessions_usersession",
)
"""What must not come back: sessions that were ended since, accepted jobs and blobs whose bytes are gone, counts of
attempts."""


@contextmanager
def dump_database(url: str) -> Iterator[IO[bytes]]:
    """The output of pg_dump; raises SettingsError with its complaint if it fails."""
    left_out = [f"--exclude-table-data={table}" for table in PASSING_TABLES]
    command = [find_program("pg_dump"), "--format=custom", "--no-owner", "--no-privileges", *left_out]
    with _complaints() as complaints:
        process = subprocess.Popen(command, env=connection_variables(url), stdout=subprocess.PIPE, stderr=complaints)
        try:
            assert process.stdout
            with process.stdout as output:
                yield output
        except BaseException:
            process.kill()
            process.wait()
            raise
        _require_success("pg_dump", process.wait(), complaints)


@contextmanager
def restore_database(url: str) -> Iterator[IO[bytes]]:
    """The input of pg_restore, which changes nothing unless it gets all of a dump."""
    database = str(conninfo_to_dict(url).get("dbname") or os.environ.get("PGDATABASE", ""))
    command = [find_program("pg_restore"), "--format=custom", "--no-owner", "--no-privileges"]
    command += ["--single-transaction", "--exit-on-error", f"--dbname={database}"]
    with _complaints() as complaints:
        process = subprocess.Popen(command, env=connection_variables(url), stdin=subprocess.PIPE, stderr=complaints)
        try:
            assert process.stdin
            with suppress(BrokenPipeError), process.stdin as sink:  # its exit code says more
                yield sink
        except BaseException:
            process.kill()
            process.wait()
            raise
        _require_success("pg_restore", process.wait(), complaints)


def find_program(name: str) -> str:
    """The newest that Debian has installed, or the one on PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = str(installed[-1]) if installed else shutil.which(name)
    if not found:
        raise SettingsError(f"{name} is missing. Install it with: apt-get install postgresql-client")
    return found


def connection_variables(url: str) -> dict[str, str]:
    """The variables of this process, and those that say the same as a URL."""
    variables = {one.keyword.decode(): one.envvar.decode() for one in pq.Conninfo.get_defaults() if one.envvar}
    given = {keyword: str(value) for keyword, value in conninfo_to_dict(url).items() if value is not None}
    return os.environ | {variables[name]: value for name, value in given.items() if name in variables}


@contextmanager
def _complaints() -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        yield file


def _require_success(name: str, code: int, complaints: IO[bytes]) -> None:
    complaints.seek(0)
    said = complaints.read().decode(errors="replace").strip()
    if code:
        raise SettingsError(f"{name} failed ({code}), and nothing was changed: {said[-2000:] or 'no message'}")
