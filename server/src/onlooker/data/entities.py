"""`GET /api/1/entities`: a page of buckets with the metrics that were asked for."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from onlooker.data.comparison import COMPARISON_PARAMETERS, comparison_members, parse_comparison
from onlooker.data.context import context_of
from onlooker.data.query import compare_limited, note_reading, read_parameters, read_query, run_limited
from onlooker.metrics.execution import Answer
from onlooker.metrics.query import Query

PATH = "/api/1/entities"
CACHING = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
"""Stored by the bearer only, and revalidated before each use."""


async def show_entities(request: Request) -> Response:
    context = context_of(request)
    parameters = read_parameters(request.scope["query_string"])
    query, page = read_query(request, parameters)
    before = parse_comparison(parameters, query) if parameters.keys() & COMPARISON_PARAMETERS else None
    answer = await run_limited(context, query, page, note=partial(note_reading, context, request, query, "page"))
    members = members_of(answer, data_url=context.settings.data_url, named=request.scope["named"])
    if before and page == 1:
        earlier = replace(query, from_at=before.from_at, to_at=before.to_at)
        note = partial(note_reading, context, request, earlier, "comparison")
        members["comparison"] = comparison_members(await compare_limited(context, query, before, note=note), query)
    body = msgspec.json.encode(members)
    return revalidated(request, body)


def revalidated(request: Request, body: bytes) -> Response:
    """A JSON body with its tag, or 304 if the request names that tag: a client that has it is not sent it again."""
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = CACHING | {"ETag": tag}
    if _names(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


def _names(header: str, tag: str) -> bool:
    """Weak comparison: the same numbers, in any encoding."""
    given = [one.strip().removeprefix("W/") for one in header.split(",")]
    return tag.removeprefix("W/") in given or given == ["*"]


def members_of(answer: Answer, *, data_url: str, named: Mapping[str, str] = {}) -> dict[str, Any]:
    """The members of the body, in the order of the interface; `named` is what the next page's URL has besides."""
    query = answer.query
    members = {
        "entities": answer.entities,
        "time": query.time,
        "from_date": from_date(query),
        "to_date": to_date(query),
        "total_results": answer.total_results,
        "nb_of_pages": answer.nb_of_pages,
        "page": answer.page,
        "next_page": _next_page(answer, data_url, named),
        **(query.breakdown.members if query.breakdown else {}),
    }
    return members if answer.exact else members | {"exact": False}


def _next_page(answer: Answer, data_url: str, named: Mapping[str, str]) -> str:
    """A complete URL with all parameters, so that all pages are of the same range and zone."""
    if answer.page >= answer.nb_of_pages:
        return ""
    query = answer.query
    parameters = {
        "metrics": ",".join(query.metrics),
        "from_date": from_date(query),
        "to_date": to_date(query),
        "time": query.time.value,
        "tz": query.zone.key,
        "page": answer.page + 1,
        **(query.breakdown.parameters if query.breakdown else {}),
        **named,
    }
    return f"{data_url}{PATH}?{urlencode(parameters)}"


def from_date(query: Query) -> str:
    """With the offset of the request."""
    return query.from_at.astimezone(query.from_offset or query.zone).isoformat()


def to_date(query: Query) -> str:
    return query.to_at.astimezone(query.to_offset or query.zone).isoformat()
