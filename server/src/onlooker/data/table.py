"""`GET /api/1/entities.csv`: all buckets of a range as one table, a page at a time."""

import csv
import io
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from onlooker.data.comparison import refuse_comparison
from onlooker.data.context import context_of
from onlooker.data.entities import CACHING
from onlooker.data.query import note_reading, read_parameters, read_query, run_limited
from onlooker.errors import bad_request
from onlooker.metrics.buckets import count_buckets
from onlooker.metrics.execution import BY, CELLS, Answer
from onlooker.metrics.extensions import CARRIED

HEADERS = CACHING | {"Content-Disposition": 'attachment; filename="entities.csv"'}
MEDIA_TYPE = "text/csv; charset=utf-8; header=present"

LONGEST_TABLE = 100_000
"""Eleven years of hours, or nearly three of quarter hours."""
WAIT_LIMIT_S = 60.0
"""Longer than usual: a reader that has half a table is not turned away because others ask, too."""

Cell = TypeVar("Cell")


async def show_table(request: Request) -> Response:
    asked, first = await read_first_page(request)
    if request.method == "HEAD":
        return Response(headers=HEADERS, media_type=MEDIA_TYPE)
    return StreamingResponse(_chunks(request, first, asked), headers=HEADERS, media_type=MEDIA_TYPE)


async def read_first_page(request: Request) -> tuple[tuple[str, ...], Answer]:
    """The metrics asked for, and the first page, which has more.

    It is queried before anything is sent, so that errors can be answered as problems.
    """
    parameters = read_parameters(request.scope["query_string"])
    if "page" in parameters:
        raise bad_request("A table has no pages: it is the whole range. Leave `page` out.")
    refuse_comparison(parameters)
    query, _ = read_query(request, parameters)
    cells = query.breakdown.count if query.breakdown else 1
    if count_buckets(query) * cells > LONGEST_TABLE:
        raise bad_request(f"A table has at most {LONGEST_TABLE} rows. Ask for a shorter range, or for longer buckets.")
    asked = query.metrics
    carrying = replace(query, metrics=tuple(dict.fromkeys((*asked, *CARRIED))))
    note = partial(note_reading, context_of(request), request, query, "table")
    return asked, await run_limited(context_of(request), carrying, note=note)


async def read_pages(request: Request, first: Answer) -> AsyncIterator[Answer]:
    """One page after another. An error in between breaks the connection: half a table is no answer."""
    context, check_again = context_of(request), request.scope["check_again"]
    yield first
    for page in range(2, first.nb_of_pages + 1):
        await check_again()  # a slow reader may read for hours; its token or key may end meanwhile
        yield await run_limited(context, first.query, page, wait_s=WAIT_LIMIT_S)


async def _chunks(request: Request, first: Answer, asked: tuple[str, ...]) -> AsyncIterator[str]:
    header = as_csv([table_header(first, asked)])
    async for answer in read_pages(request, first):
        yield header + as_csv(table_rows(answer, asked))
        header = ""


def table_header(answer: Answer, asked: tuple[str, ...]) -> list[str]:
    """What was asked for, `exact`, and what a table has besides: columns keep their places for those who count them."""
    _, _, values = next(_values_of(answer))
    columns = {metric: columns_of(metric, value) for metric, value in values.items()}
    by = answer.query.breakdown.by if answer.query.breakdown else ()
    return ["bucket", *by, *_chosen(columns, asked), "exact", *_others(columns, asked)]


def columns_of(metric: str, parts: Iterable[str]) -> list[str]:
    """The columns of a metric, in the order of its parts."""
    return [metric if part == "value" else f"{metric}_{part}" for part in parts]


def table_rows(answer: Answer, asked: tuple[str, ...]) -> Iterable[list[object]]:
    exact = "true" if answer.exact else "false"
    for key, parts, values in _values_of(answer):
        numbers = {metric: value.values() for metric, value in values.items()}
        yield [key, *parts, *_chosen(numbers, asked), exact, *_others(numbers, asked)]


def _values_of(answer: Answer) -> Iterator[tuple[str, Iterable[str], Mapping[str, Mapping[str, object]]]]:
    """Of each row: its bucket, its part of each dimension, and the values of metrics."""
    for key, values in answer.entities.items():
        if CELLS not in values:
            yield key, (), values
        for cell in values.get(CELLS, ()):
            yield key, cell[BY].values(), {name: value for name, value in cell.items() if name != BY}


def _chosen(cells: Mapping[str, Iterable[Cell]], asked: tuple[str, ...]) -> Iterator[Cell]:
    return (cell for metric in asked for cell in cells[metric])


def _others(cells: Mapping[str, Iterable[Cell]], asked: tuple[str, ...]) -> Iterator[Cell]:
    return (cell for metric in cells if metric not in asked for cell in cells[metric])


def as_csv(rows: Iterable[list[object]] | Iterable[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
