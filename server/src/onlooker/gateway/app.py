"""The gateway process: its parts, its ASGI app, its listeners."""

import asyncio
import logging

from starlette.routing import Route, Router
from starlette.types import ASGIApp

from onlooker.gateway.gate import Gate
from onlooker.gateway.health import readiness
from onlooker.gateway.opening import open_parts
from onlooker.gateway.operation import Endpoint
from onlooker.gateway.parts import Parts
from onlooker.gateway.routes import ROUTES
from onlooker.gateway.trials import guard_row
from onlooker.listening.servers import make_server, open_listeners
from onlooker.logs import fields
from onlooker.monitoring import serve_monitoring, stop_signal
from onlooker.settings import Settings

log = logging.getLogger(__name__)


def build_app(parts: Parts) -> ASGIApp:
    """The routes behind the gate."""
    routes = [Route(row.path, Endpoint(guard_row(row)), methods=[row.method]) for row in ROUTES]
    router = Router(routes, redirect_slashes=False)
    return Gate(router, parts, frozenset(row.path for row in ROUTES if row.open))


async def run_gateway(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was begun."""
    listeners = open_listeners(settings, https="https_port", http="http_port")
    async with open_parts(settings) as parts, asyncio.TaskGroup() as group:
        stop = stop_signal()
        app = build_app(parts)
        servers = [make_server(settings, app, listener) for listener in listeners]
        for server, listener in zip(servers, listeners, strict=True):
            group.create_task(server.serve(sockets=[listener.listening]))
        monitoring = group.create_task(serve_monitoring(settings.monitoring_port, lambda: readiness(parts)))
        log.info("gateway ready", extra=fields(url=settings.public_url))
        await stop.wait()
        for server in servers:
            server.leave()
        monitoring.cancel()
    log.info("gateway stopped")
