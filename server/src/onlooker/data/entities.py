"""`GET /api/1/entities`: a page of buckets with the metrics that were asked for."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from onlooker.data.comparison import COMPARISON_PARAMETERS, comparison_members, parse_comparison
from onlooker.data.context import context_of
from onlooker.data.query import compare_limited, note_reading, read_parameters, read_query, run_limited
from onlooker.data.revalidation import revalidated
from onlooker.metrics.execution import Answer
from onlooker.metrics.query import Query

PATH = "/api/1/entities"


async def show_entities(request: Request) -> Response:
    context = context_of(request)
    parameters = read_parameters(request.scope["query_string"])
    query, page = read_query(request, parameters)
    before = parse_comparison(parameters, query) if parameters.keys() & COMPARISON_PARAMETERS else None
    await note_reading(context, request, query, "page")
    if before:
        compared = replace(query, from_at=before.from_at, to_at=before.to_at)
        await note_reading(context, request, compared, "comparison")
    answer = await run_limited(context, query, page)
    members = members_of(answer, data_url=context.settings.data_url)
    if before and page == 1:
        members["comparison"] = comparison_members(await compare_limited(context, query, before), query)
    body = msgspec.json.encode(members)
    return revalidated(request, body)


def members_of(answer: Answer, *, data_url: str) -> dict[str, Any]:
    """The members of the body, in the order of the interface."""
    query = answer.query
    members = {
        "entities": answer.entities,
        "time": query.time,
        "from_date": _from_date(query),
        "to_date": _to_date(query),
        "total_results": answer.total_results,
        "nb_of_pages": answer.nb_of_pages,
        "page": answer.page,
        "next_page": _next_page(answer, data_url),
    }
    return members if answer.exact else members | {"exact": False}


def _next_page(answer: Answer, data_url: str) -> str:
    """A complete URL with all parameters, so that all pages are of the same range and zone."""
    if answer.page >= answer.nb_of_pages:
        return ""
    query = answer.query
    parameters = {
        "metrics": ",".join(query.metrics),
        "from_date": _from_date(query),
        "to_date": _to_date(query),
        "time": query.time.value,
        "tz": query.zone.key,
        "page": answer.page + 1,
    }
    return f"{data_url}{PATH}?{urlencode(parameters)}"


def _from_date(query: Query) -> str:
    """With the offset of the request."""
    return query.from_at.astimezone(query.from_offset or query.zone).isoformat()


def _to_date(query: Query) -> str:
    return query.to_at.astimezone(query.to_offset or query.zone).isoformat()
