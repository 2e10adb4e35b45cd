"""`GET /api/1/entities`: a page of buckets with the metrics that were asked for."""

from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from onlooker.data.asking import ask, read_query
from onlooker.data.parameters import read_parameters
from onlooker.data.parts import parts_of
from onlooker.data.revalidation import revalidated
from onlooker.metrics.query import Query
from onlooker.metrics.running import Answer

PATH = "/api/1/entities"


async def show_entities(request: Request) -> Response:
    parts = parts_of(request)
    query, page = read_query(request, read_parameters(request.scope["query_string"]))
    answer = await ask(parts, query, page)
    body = msgspec.json.encode(members_of(answer, data_url=parts.settings.data_url))
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
    """A complete URL that says all there is to say, so that all pages of one walk are of one range and zone."""
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
    """With the offset that it was asked with."""
    return query.from_at.astimezone(query.from_offset or query.zone).isoformat()


def _to_date(query: Query) -> str:
    return query.to_at.astimezone(query.to_offset or query.zone).isoformat()
