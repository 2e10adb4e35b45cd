"""Every route of the gateway, as one table."""

from starlette.requests import Request
from starlette.responses import Response

from onlooker.gateway import blobs, directory, health, jobs, sessions, stream
from onlooker.gateway.answers import json_answer
from onlooker.gateway.feeds import resource as feeds
from onlooker.gateway.openapi import describe_gateway
from onlooker.gateway.operation import RouteRow
from onlooker.gateway.parts import parts_of

VERSION = "/services/{name}/{version}"


async def show_openapi(request: Request) -> Response:
    parts = parts_of(request)
    return json_answer(describe_gateway(ROUTES, parts.catalogue, parts.settings.public_url))


ROUTES: tuple[RouteRow, ...] = (
    # The way of a frame comes first: routes are tried in this order.
    RouteRow("POST", f"{VERSION}/jobs", jobs.create_job, "Create a job", for_trials=True),
    RouteRow("GET", "/livez", health.show_live, "Whether the process runs", open=True),
    RouteRow("GET", "/readyz", health.show_ready, "Whether it can serve", open=True),
    RouteRow("GET", "/openapi.json", show_openapi, "This interface, as an OpenAPI document", open=True),
    RouteRow("GET", "/stream", stream.show_stream, "The stream that asks: its state, its month, where its numbers are"),
    RouteRow("GET", "/services", directory.list_services, "Service directory"),
    RouteRow("GET", "/services/{name}", directory.show_service, "A service and its versions"),
    RouteRow("GET", VERSION, directory.show_version, "A service version"),
    RouteRow("GET", f"{VERSION}/description", directory.show_version, "The same, for historic clients"),
    RouteRow("GET", f"{VERSION}/jobs/{{id}}", jobs.show_job, "A job and its result"),
    RouteRow("DELETE", f"{VERSION}/jobs/{{id}}", jobs.delete_job, "Delete a job and its result"),
    RouteRow("DELETE", f"{VERSION}/sessions/{{id}}", sessions.end_session, "End a session at once", for_trials=True),
    RouteRow("POST", f"{VERSION}/streams", feeds.create_feed, "Open a stream of frames"),
    RouteRow("GET", f"{VERSION}/streams/{{id}}", feeds.show_feed, "A stream of frames"),
    RouteRow("POST", f"{VERSION}/streams/{{id}}/input", feeds.take_input, "Send frames, in one long request"),
    RouteRow("GET", f"{VERSION}/streams/{{id}}/output", feeds.give_output, "Read results, in one long answer"),
    RouteRow("POST", "/blobs", blobs.create_blob, "Store a blob"),
    RouteRow("GET", "/blobs/{id}", blobs.show_blob, "The bytes of a blob"),
    RouteRow("DELETE", "/blobs/{id}", blobs.delete_blob, "Delete a blob"),
)
