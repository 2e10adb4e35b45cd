"""The data endpoint's process: its parts, its ASGI app, its listeners."""

import asyncio
import logging

from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from onlooker.data.gate import Gate
from onlooker.data.health import watch_database
from onlooker.data.parts import Parts, open_parts
from onlooker.data.routes import ROUTES
from onlooker.gateway.operation import Endpoint
from onlooker.listening.servers import make_server, open_listeners
from onlooker.logs import fields
from onlooker.monitoring import serve_monitoring, stop_signal
from onlooker.settings import Settings

log = logging.getLogger(__name__)

WORTH_PACKING_BYTES = 1000
PACKING = 5
"""zlib's level: the best one costs twice the time for a few bytes less."""


def build_app(parts: Parts) -> ASGIApp:
    """The routes behind the gate."""
    routes = [Route(row.path, Endpoint(row.handler), methods=[row.method]) for row in ROUTES]
    router = Router(routes, redirect_slashes=False)
    packed = GZipMiddleware(router, minimum_size=WORTH_PACKING_BYTES, compresslevel=PACKING)
    return Gate(packed, parts, frozenset(row.path for row in ROUTES if row.open))


async def run_data(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was begun."""
    listeners = open_listeners(settings, https="data_https_port", http="data_http_port")
    async with open_parts(settings) as parts, asyncio.TaskGroup() as group:
        stop = stop_signal()
        app = build_app(parts)
        servers = [make_server(settings, app, listener) for listener in listeners]
        for server, listener in zip(servers, listeners, strict=True):
            group.create_task(server.serve(sockets=[listener.listening]))
        background = [
            group.create_task(watch_database(parts)),
            group.create_task(serve_monitoring(settings.monitoring_port, lambda: parts.checks)),
        ]
        log.info("data endpoint ready", extra=fields(url=settings.data_url))
        await stop.wait()
        for server in servers:
            server.leave()
        for task in background:
            task.cancel()
    log.info("data endpoint stopped")
