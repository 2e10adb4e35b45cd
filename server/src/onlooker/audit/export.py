"""A log as a file: JSON lines, which can be checked again, or CSV."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from onlooker.audit.chain import COLUMNS, LoggedEntry


def json_lines(entries: Iterable[LoggedEntry]) -> Iterator[str]:
    return (json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in entries)


def csv_lines(entries: Iterable[LoggedEntry]) -> Iterator[str]:
    yield _csv_line(COLUMNS)
    for entry in entries:
        yield _csv_line(asdict(entry).values())


def _csv_line(cells: Any) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


def read_json_lines(lines: Iterable[str]) -> Iterator[LoggedEntry]:
    """What `json_lines` wrote. Raises ValueError with the number of the line."""
    for number, line in enumerate(lines, start=1):
        try:
            yield LoggedEntry(**json.loads(line))
        except (TypeError, ValueError):
            raise ValueError(f"Line {number} is no entry of an audit log.") from None
