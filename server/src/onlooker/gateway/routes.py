"""Every route of the gateway, as one table."""

from starlette.requests import Request
from starlette.responses import Response

from onlooker.gateway import blobs, condition, device_visits, directory, jobs, sessions, stream
from onlooker.gateway.context import context_of, readiness
from onlooker.gateway.feeds import resource as feeds
from onlooker.gateway.openapi import describe_gateway
from onlooker.http.answers import json_answer
from onlooker.http.health import ready_answer, show_live
from onlooker.http.routes import RouteRow

VERSION = "/services/{name}/{version}"


async def show_openapi(request: Request) -> Response:
    context = context_of(request)
    return json_answer(describe_gateway(ROUTES, context.catalogue, context.settings.public_url))


async def show_ready(request: Request) -> Response:
    context = context_of(request)
    return ready_answer(readiness(context), workers=len(context.workers), **context.clock.facts())


ROUTES: tuple[RouteRow, ...] = (
    # The way of a frame comes first: routes are tried in this order.
    RouteRow("POST", f"{VERSION}/jobs", jobs.create_job, "Create a job", for_trials=True),
    RouteRow(
        "POST", f"{VERSION}/visits", device_visits.take_visits, "Hand over visits that a device computed by itself"
    ),
    RouteRow("GET", "/livez", show_live, "Whether the process runs", open=True),
    RouteRow("GET", "/readyz", show_ready, "Whether it can serve", open=True),
    RouteRow("GET", "/openapi.json", show_openapi, "This interface, as an OpenAPI document", open=True),
    RouteRow("GET", "/stream", stream.show_stream, "The stream that asks: its state, its month, where its numbers are"),
    RouteRow("PUT", "/stream/condition", condition.put_condition, "Report the condition of its camera"),
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
