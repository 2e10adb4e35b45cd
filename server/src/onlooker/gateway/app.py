"""The gateway process: its parts, its ASGI app, its listeners."""

import asyncio
import logging
import socket

import uvicorn
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from onlooker.gateway.gate import Gate
from onlooker.gateway.health import readiness
from onlooker.gateway.opening import open_parts
from onlooker.gateway.operation import Endpoint
from onlooker.gateway.parts import Parts
from onlooker.gateway.protocol import BoundedProtocol
from onlooker.gateway.routes import ROUTES
from onlooker.logs import fields
from onlooker.monitoring import EmbeddedServer, listen, serve_monitoring, stop_signal
from onlooker.settings import Settings

log = logging.getLogger(__name__)


def build_app(parts: Parts) -> ASGIApp:
    """The routes behind the gate."""
    routes = [Route(row.path, Endpoint(row.handler), methods=[row.method]) for row in ROUTES]
    router = Router(routes, redirect_slashes=False)
    return Gate(router, parts, frozenset(row.path for row in ROUTES if row.open))


async def run_gateway(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was begun."""
    sockets = open_sockets(settings)
    async with open_parts(settings) as parts, asyncio.TaskGroup() as group:
        stop = stop_signal()
        app = build_app(parts)
        servers = [EmbeddedServer(_server_config(settings, app, tls=tls)) for tls in sockets]
        for server, listening in zip(servers, sockets.values(), strict=True):
            group.create_task(server.serve(sockets=[listening]))
        monitoring = group.create_task(serve_monitoring(settings.monitoring_port, lambda: readiness(parts)))
        log.info("gateway ready", extra=fields(url=settings.public_url))
        await stop.wait()
        for server in servers:
            server.leave()
        monitoring.cancel()
    log.info("gateway stopped")


def open_sockets(settings: Settings) -> dict[bool, socket.socket]:
    """HTTPS (True) where clients are; plain HTTP (False) on loopback only, for a proxy in front."""
    sockets = {}
    if settings.https_port:
        sockets[True] = listen(settings.https_host, settings.https_port, setting="https_port")
    if settings.http_port:
        sockets[False] = listen("127.0.0.1", settings.http_port, setting="http_port")
    return sockets


def _server_config(settings: Settings, app: ASGIApp, *, tls: bool) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
        ssl_certfile=settings.tls_certificate_file if tls else None,
        ssl_keyfile=settings.tls_key_file if tls else None,
    )
