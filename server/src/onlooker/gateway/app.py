"""The gateway process: its parts, its ASGI app, its listeners."""

import asyncio
import logging
import signal
from typing import Any

import uvicorn
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from onlooker.gateway.gate import Gate
from onlooker.gateway.health import readiness
from onlooker.gateway.opening import open_parts
from onlooker.gateway.parts import Parts
from onlooker.gateway.routes import ROUTES
from onlooker.logs import fields
from onlooker.monitoring import EmbeddedServer, serve_monitoring
from onlooker.settings import Settings

log = logging.getLogger(__name__)


def build_app(parts: Parts) -> ASGIApp:
    """The routes behind the gate."""
    router = Router([Route(row.path, row.handler, methods=[row.method]) for row in ROUTES], redirect_slashes=False)
    return Gate(router, parts, frozenset(row.path for row in ROUTES if row.open))


async def run_gateway(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was begun."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_parts(settings) as parts:
        app = build_app(parts)
        servers = [EmbeddedServer(config) for config in listeners(settings, app)]
        serving = [asyncio.create_task(server.serve()) for server in servers]
        monitoring = asyncio.create_task(serve_monitoring(settings.monitoring_port, lambda: readiness(parts)))
        log.info("gateway ready", extra=fields(url=settings.public_url))
        await stop.wait()
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*serving)
        monitoring.cancel()
    log.info("gateway stopped")


def listeners(settings: Settings, app: ASGIApp) -> list[uvicorn.Config]:
    """HTTPS where clients are; plain HTTP on loopback only, for a proxy in front."""
    common: dict[str, Any] = {
        "app": app,
        "lifespan": "off",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": settings.trusted_proxies,
        "timeout_keep_alive": 75,
        "timeout_graceful_shutdown": 5,
        "h11_max_incomplete_event_size": 64 * 1024,
    }
    configs = []
    if settings.https_port:
        configs.append(
            uvicorn.Config(
                host=settings.https_host,
                port=settings.https_port,
                ssl_certfile=settings.tls_certificate_file,
                ssl_keyfile=settings.tls_key_file,
                **common,
            )
        )
    if settings.http_port:
        configs.append(uvicorn.Config(host="127.0.0.1", port=settings.http_port, **common))
    return configs
