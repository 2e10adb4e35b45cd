"""`GET /api/1/entities.parquet`: the rows of `/api/1/entities.csv` with types, and what they are in the file itself."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version
from typing import Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from onlooker.data.context import bearer_of
from onlooker.data.entities import CACHING, from_date, to_date
from onlooker.data.openapi import BUCKET
from onlooker.data.parquet_file import MEDIA_TYPE, Column, Kind, ParquetFile
from onlooker.data.table import columns_of, read_first_page, read_pages, table_header, table_rows
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.dimensions import DIMENSIONS
from onlooker.metrics.execution import Answer
from onlooker.metrics.extensions import EXTENSIONS
from onlooker.metrics.query import KNOWN_METRICS, Query
from onlooker.metrics.statements import definitions_version

HEADERS = CACHING | {"Content-Disposition": 'attachment; filename="entities.parquet"'}
GROUP_ROWS = 1000
"""Six weeks of hours. They are packed on a thread: with all columns that takes up to 40 ms."""
FIRST_COLUMNS = (Column("bucket", Kind.TEXT, is_required=True), Column("start", Kind.MOMENT, is_required=True))
EXACT = Column("exact", Kind.FLAG, is_required=True)
_KINDS = {"integer": Kind.COUNT, "number": Kind.NUMBER, "string": Kind.TEXT}


async def show_parquet(request: Request) -> Response:
    asked, first = await read_first_page(request)
    if request.method == "HEAD":
        return Response(headers=HEADERS, media_type=MEDIA_TYPE)
    return StreamingResponse(_chunks(request, first, asked), headers=HEADERS, media_type=MEDIA_TYPE)


async def _chunks(request: Request, first: Answer, asked: tuple[str, ...]) -> AsyncIterator[bytes]:
    """A group of rows after another. A file that was broken off has no end, so no reader takes it for whole."""
    columns = [*FIRST_COLUMNS, *make_columns(table_header(first, asked)[1:])]
    file = open_file(columns, describe_query(first.query, bearer_of(request).client_id))
    yield file.begin()
    rows: list[Sequence[Any]] = []
    async for answer in read_pages(request, first):
        rows += typed_rows(answer.query, table_rows(answer, asked))
        if len(rows) >= GROUP_ROWS:
            yield await asyncio.to_thread(file.add_rows, rows)
            rows = []
    if rows:
        yield await asyncio.to_thread(file.add_rows, rows)
    yield file.finish()


def open_file(columns: Sequence[Column], metadata: Mapping[str, str]) -> ParquetFile:
    return ParquetFile(columns, metadata, created_by=f"onlooker version {version('onlooker')}")


def make_columns(header: Sequence[str]) -> list[Column]:
    """The columns of a table by their names, with the types that the interface's document gives the numbers."""
    return [_column(name) for name in header]


def _column(name: str) -> Column:
    if name == EXACT.name:
        return EXACT
    return Column(name, Kind.TEXT, is_required=True) if name in DIMENSIONS else Column(name, _number_kinds()[name])


@lru_cache(maxsize=1)
def _number_kinds() -> dict[str, Kind]:
    """Of every column of every metric. A type of the document may have `null` beside it."""
    found = {}
    for metric in KNOWN_METRICS:
        parts = BUCKET["properties"][metric]["properties"]
        for column, schema in zip(columns_of(metric, parts), parts.values(), strict=True):
            said = schema["type"]
            found[column] = _KINDS[said if isinstance(said, str) else said[0]]
    return found


def typed_rows(query: Query, rows: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """Rows of a table with the moment at which each bucket starts, after its key; `global` starts with the range."""
    for key, *cells in rows:
        start = query.from_at if key == "global" else datetime.fromisoformat(key).astimezone(UTC)
        yield [key, start, *(cell == "true" if cell in ("true", "false") else cell for cell in cells)]


def describe_query(query: Query, client_id: UUID) -> dict[str, str]:
    """What somebody who finds the file in two years asks: of which stream, which time, and what the numbers mean."""
    meanings = {name: (METRICS.get(name) or EXTENSIONS[name]).meaning for name in query.metrics}
    return {
        "onlooker.client_id": str(client_id),
        "onlooker.time_zone": query.zone.key,
        "onlooker.from_date": from_date(query),
        "onlooker.to_date": to_date(query),
        "onlooker.time": query.time.value,
        **describe_metrics(meanings),
        **{f"onlooker.{name}": text for name, text in (query.breakdown.parameters if query.breakdown else {}).items()},
    }


def describe_metrics(meanings: Mapping[str, str]) -> dict[str, str]:
    """Which numbers a file has, what each means, and how visits were judged and counted."""
    return {
        "onlooker.metrics": ",".join(meanings),
        "onlooker.meanings": json.dumps(dict(meanings)),
        "onlooker.definitions": definitions_version(),
    }
