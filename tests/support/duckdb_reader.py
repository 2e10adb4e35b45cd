"""DuckDB in a process of its own, which ends without the page of warnings that it prints at the end of a test run.

Takes statements, a line of JSON each, and answers with their rows.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class DuckDB:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, statement: str) -> list[list[Any]]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        stdin.write(json.dumps(statement) + "\n")
        stdin.flush()
        rows: list[list[Any]] = json.loads(stdout.readline())
        return rows


@contextmanager
def open_duckdb() -> Iterator[DuckDB]:
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield DuckDB(process)


def answer_all() -> None:
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    for line in sys.stdin:
        print(json.dumps(connection.execute(json.loads(line)).fetchall()), flush=True)


if __name__ == "__main__":
    answer_all()
    os._exit(0)
