"""The data endpoint's process: its routes, its ASGI app and its listeners."""

import asyncio
import logging

from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from onlooker.data import counters, entities, parquet_file, parquet_table, table
from onlooker.data.admission import DataAdmission, is_routine, note_refusal
from onlooker.data.context import DataContext, context_of, open_context
from onlooker.data.openapi import describe_data
from onlooker.http.access_log import AccessLog
from onlooker.http.answers import json_answer
from onlooker.http.cors import AnyOrigin
from onlooker.http.gate import Gate, GateRules
from onlooker.http.health import ready_answer, show_live, watch_database
from onlooker.http.routes import RouteRow, build_router, open_paths
from onlooker.http.servers import open_listeners, start_servers
from onlooker.logs import fields
from onlooker.monitoring import serve_monitoring, stop_signal
from onlooker.settings import Settings

log = logging.getLogger(__name__)

METHODS = "GET, HEAD, OPTIONS"
SEND_LIMIT_S = 60.0
COMPRESSED_FROM_BYTES = 1000
COMPRESSION_LEVEL = 5
"""Of zlib: the best level takes twice the time for a few bytes less."""
COMPRESSED_ALREADY = (*DEFAULT_EXCLUDED_CONTENT_TYPES, parquet_file.MEDIA_TYPE)
_CORS = AnyOrigin(
    methods=METHODS,
    request_headers="Authorization, If-None-Match, X-Request-Id",
    exposed="Content-Disposition, ETag, Retry-After, WWW-Authenticate, X-Request-Id",
    max_age_s=600,
)
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)


async def show_openapi(request: Request) -> Response:
    return json_answer(describe_data(ROUTES, context_of(request).settings.data_url))


async def show_ready(request: Request) -> Response:
    context = context_of(request)
    return ready_answer(context.checks, **context.clock.facts())


ROUTES: tuple[RouteRow, ...] = (
    RouteRow("GET", entities.PATH, entities.show_entities, "Metrics of a stream, by page"),
    RouteRow("GET", f"{entities.PATH}.csv", table.show_table, "The same as one table (CSV)"),
    RouteRow("GET", f"{entities.PATH}.parquet", parquet_table.show_parquet, "The same table with types (Parquet)"),
    RouteRow("GET", "/openapi.json", show_openapi, "This interface, as an OpenAPI document", open=True),
    RouteRow("GET", "/livez", show_live, "Whether the process runs", open=True),
    RouteRow("GET", "/readyz", show_ready, "Whether it can serve", open=True),
)


def build_app(context: DataContext) -> ASGIApp:
    """The routes behind the gate."""
    rules = GateRules(
        context=context,
        cors=_CORS,
        access_log=AccessLog(log, counters.requests, counters.request_time),
        admit=DataAdmission(context, open_paths(ROUTES)).admit,
        note_refusal=note_refusal,
        is_routine=is_routine,
        headers=_HEADERS,
        refusal_headers={"Cache-Control": "no-store"},
        methods=METHODS,
        send_limit_s=SEND_LIMIT_S,
    )
    router = build_router(ROUTES)
    compressing = GZipMiddleware(
        router,
        minimum_size=COMPRESSED_FROM_BYTES,
        compresslevel=COMPRESSION_LEVEL,
        exclude_content_types=COMPRESSED_ALREADY,
    )
    return Gate(compressing, rules)


async def run_data(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in progress."""
    listeners = open_listeners(settings, https="data_https_port", http="data_http_port")
    async with open_context(settings) as context, asyncio.TaskGroup() as group:
        await context.clock.measure(context.pool)
        stop = stop_signal()
        servers = start_servers(group, settings, build_app(context), listeners)
        background = [
            group.create_task(watch_database(context.pool, context.checks, context.clock)),
            group.create_task(context.clock.run(context.pool)),
            group.create_task(context.key_uses.run()),
            group.create_task(serve_monitoring(settings, lambda: context.checks, context.clock.facts)),
        ]
        log.info("data endpoint ready", extra=fields(url=settings.data_url))
        await stop.wait()
        for server in servers:
            server.leave()
        for task in background:
            task.cancel()
    log.info("data endpoint stopped")
