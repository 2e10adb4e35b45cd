"""Every route of the data endpoint, as one table."""

from starlette.requests import Request
from starlette.responses import Response

from onlooker.data import entities, health, table
from onlooker.data.openapi import describe_data
from onlooker.data.parts import parts_of
from onlooker.gateway.answers import json_answer
from onlooker.gateway.operation import RouteRow


async def show_openapi(request: Request) -> Response:
    return json_answer(describe_data(ROUTES, parts_of(request).settings.data_url))


ROUTES: tuple[RouteRow, ...] = (
    RouteRow("GET", entities.PATH, entities.show_entities, "Metrics of a stream, by page"),
    RouteRow("GET", f"{entities.PATH}.csv", table.show_table, "The same as one table (CSV)"),
    RouteRow("GET", "/openapi.json", show_openapi, "This interface, as an OpenAPI document", open=True),
    RouteRow("GET", "/livez", health.show_live, "Whether the process runs", open=True),
    RouteRow("GET", "/readyz", health.show_ready, "Whether it can serve", open=True),
)
