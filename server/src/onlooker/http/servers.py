"""Servers: HTTPS for clients, plain HTTP for a proxy on the same machine; sockets and uvicorn's configuration."""

import asyncio
import socket
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from onlooker.http.connections import ConnectionLimits, LimitedServer
from onlooker.http.limits import BoundedProtocol, RequiredHost
from onlooker.monitoring import listen, watch_certificate
from onlooker.settings import Settings

GRACE_S = 5


@dataclass(frozen=True)
class Listener:
    """A listening socket and whether TLS is spoken on it."""

    listening: socket.socket
    tls: bool


def open_listeners(settings: Settings, *, https: str, http: str, shared: bool = False) -> list[Listener]:
    """HTTPS for clients, plain HTTP for proxies; `https` and `http` name the settings of the two ports."""
    wanted = ((settings.https_host, https, True), (settings.http_host, http, False))
    ports = [(host, getattr(settings, name), name, tls) for host, name, tls in wanted]
    return [Listener(listen(host, port, setting=name, shared=shared), tls) for host, port, name, tls in ports if port]


def connection_limits(settings: Settings) -> ConnectionLimits:
    """Of one process, over all its listeners."""
    proxies = {proxy.strip() for proxy in settings.trusted_proxies.split(",")}
    return ConnectionLimits(settings.connections_limit, settings.connections_per_address, frozenset(proxies))


def make_server(settings: Settings, app: ASGIApp, listener: Listener, limits: ConnectionLimits) -> LimitedServer:
    if listener.tls:
        watch_certificate("tls_certificate_file", settings.tls_certificate_file)
    return LimitedServer(
        uvicorn.Config(
            RequiredHost(app),
            http=BoundedProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=settings.trusted_proxies,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=GRACE_S,
            ssl_certfile=settings.tls_certificate_file if listener.tls else None,
            ssl_keyfile=settings.tls_key_file if listener.tls else None,
        ),
        limits,
    )


def start_servers(
    group: asyncio.TaskGroup, settings: Settings, app: ASGIApp, listeners: list[Listener]
) -> list[LimitedServer]:
    """One server for each listener, running as tasks of the group until they are told to leave."""
    limits = connection_limits(settings)
    servers = [make_server(settings, app, listener, limits) for listener in listeners]
    for server, listener in zip(servers, listeners, strict=True):
        group.create_task(server.serve(sockets=[listener.listening]))
    return servers
