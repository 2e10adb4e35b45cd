"""A table to download: the same rows as CSV, and as Parquet with types."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from django.http import HttpResponse

from onlooker.data.parquet_file import MEDIA_TYPE as PARQUET_TYPE
from onlooker.data.parquet_file import Column, Kind
from onlooker.data.parquet_table import open_file
from onlooker.data.table import MEDIA_TYPE as CSV_TYPE
from onlooker.data.table import as_csv

LONGEST_NAME = 60


class FileForm(StrEnum):
    """What a file is; its name ends with it."""

    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True)
class TableFile:
    """What is in a file, and what it is named after."""

    title: str
    first: date
    last: date
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    about: Mapping[str, str] = field(default_factory=dict)
    """Metadata of the Parquet file."""

    def send(self, form: FileForm) -> HttpResponse:
        if form is FileForm.PARQUET:
            return send_parquet(self.columns, self.rows, self.about, self._name(form))
        return send_csv(as_csv([[column.name for column in self.columns], *map(list, self.rows)]), self._name(form))

    def _name(self, form: FileForm) -> str:
        return name_file(self.title, self.first, self.last, form)


def send_csv(table: str, name: str) -> HttpResponse:
    return _send(table, CSV_TYPE, name)


def send_parquet(
    columns: Sequence[Column], rows: Sequence[Sequence[Any]], about: Mapping[str, str], name: str
) -> HttpResponse:
    file = open_file(columns, about)
    typed = [[_as_typed(column, cell) for column, cell in zip(columns, row, strict=True)] for row in rows]
    return _send(file.begin() + file.add_rows(typed) + file.finish(), PARQUET_TYPE, name)


def _as_typed(column: Column, cell: Any) -> Any:
    """A count in a column of numbers, such as `now`, is one of them."""
    return float(cell) if column.kind is Kind.NUMBER and cell is not None else cell


def _send(content: str | bytes, media_type: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def name_file(title: str, first: date, last: date, form: FileForm) -> str:
    """Letters, digits and hyphens only, whatever the title is."""
    return f"{plain_name(title) or 'stream'}-{first}-to-{last}.{form}"


def plain_name(name: str) -> str:
    """Letters, digits and hyphens; empty where nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:LONGEST_NAME].strip("-")
