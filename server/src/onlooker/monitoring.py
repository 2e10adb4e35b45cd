"""What a process reports: whether it is alive, whether it is ready, and what it has counted."""

import asyncio
import ipaddress
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics import MetricWrapperBase
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from onlooker import counters
from onlooker.settings import Settings, SettingsError, variable_name

Metric = TypeVar("Metric", bound=MetricWrapperBase)

SECONDS_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
"""Of the histograms of times."""


def by_labels(metric: Metric) -> Callable[..., Metric]:
    """A metric as a cached function of its labels: looking labels up each time costs more than counting."""
    return lru_cache(maxsize=4096)(metric.labels)


Readiness = Callable[[], dict[str, bool]]
"""What a process needs before it can serve: all of it must be true."""
Facts = Callable[[], Mapping[str, bool | str]]
"""What else is reported about a process; it does not make it ready or not."""


def stop_signal() -> asyncio.Event:
    """Set when this process is asked to stop. Before this is called, a signal ends it at once."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


class EmbeddedServer(uvicorn.Server):
    """A uvicorn server that leaves signals to its process, and wakes once a second instead of ten times."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        self.should_exit = True
        self._leaving.set()

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._leaving.wait()

    def close(self) -> None:
        """Stop listening, also where `serve` was cancelled."""
        for server in getattr(self, "servers", ()):  # there are none before it has started
            server.close()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _no_facts() -> Mapping[str, bool | str]:
    return {}


def monitoring_app(readiness: Readiness, facts: Facts = _no_facts) -> Starlette:
    """/livez, /readyz and /metrics of one process."""

    async def live(request: Request) -> Response:
        return JSONResponse({"live": True})

    async def ready(request: Request) -> Response:
        checks = readiness()
        ready = all(checks.values())
        return JSONResponse({"ready": ready, "checks": checks, **facts()}, status_code=200 if ready else 503)

    async def metrics(request: Request) -> Response:
        show_readiness(readiness())
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/livez", live), Route("/readyz", ready), Route("/metrics", metrics)])


def show_readiness(checks: dict[str, bool]) -> None:
    """As metrics; checks of before, such as the wait for migrations, are gone."""
    counters.ready.set(all(checks.values()))
    counters.checks.clear()
    for name, holds in checks.items():
        counters.checks.labels(name).set(holds)


def watch_certificate(setting: str, path: str) -> None:
    """Report how long the chain in a file is valid, as it is now: it is read once, when its process starts."""
    from cryptography import x509

    with suppress(OSError, ValueError):  # what loads it for TLS says so
        chain = x509.load_pem_x509_certificates(Path(path).read_bytes())
        expires_at = min(one.not_valid_after_utc for one in chain).timestamp()
        counters.certificate_days.labels(setting).set_function(lambda: (expires_at - time.time()) / 86_400)


class KnownHost:
    """ASGI middleware: a web page whose own name leads to loopback (DNS rebinding) reads nothing."""

    def __init__(self, app: ASGIApp, hosts: str) -> None:
        self._app = app
        self._known = {"localhost", *(host.strip().lower() for host in hosts.split(",") if host.strip())}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        named = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        is_old = not named and scope["http_version"] == "1.0"
        if is_old or (len(named) == 1 and self._knows(_without_port(named[0]))):
            await self._app(scope, receive, send)
        else:
            remedy = f"Add the host name to {variable_name('monitoring_hosts')} if it is yours.\n"
            refusal = PlainTextResponse(f"Monitoring does not answer to this host name. {remedy}", status_code=421)
            await refusal(scope, receive, send)

    def _knows(self, host: str) -> bool:
        if host in self._known:
            return True
        with suppress(ValueError):
            return ipaddress.ip_address(host).is_loopback
        return False


def _without_port(host: str) -> str:
    """Of a Host header; an IPv6 address is in brackets there."""
    bracketed = re.fullmatch(r"\[([^]]*)\](?::\d*)?", host)
    return bracketed[1] if bracketed else host.partition(":")[0].lower()


def listen(host: str, port: int, *, setting: str, shared: bool = False) -> socket.socket:
    """A listening socket, or a SettingsError that names the remedy; uvicorn itself would end the process.

    A shared port may be listened on by several processes; the kernel spreads connections over them.
    """
    try:
        return socket.create_server((host, port), family=_family(host), backlog=2048, reuse_port=shared)
    except OSError as error:
        raise SettingsError(
            f"Can't listen on {host}:{port} ({error.strerror}). Stop what uses it, or set {variable_name(setting)}."
        ) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def address_of(host: str, port: int) -> str:
    """Where this machine reaches what listens on a host's address; all addresses include loopback."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def serve_monitoring(settings: Settings, readiness: Readiness, facts: Facts = _no_facts) -> None:
    """Serve them until cancelled; port 0 serves nothing."""
    port = settings.monitoring_port
    if not port:
        await asyncio.Event().wait()
    app = KnownHost(monitoring_app(readiness, facts), f"{settings.monitoring_hosts},{settings.monitoring_host}")
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False)
    server = EmbeddedServer(config)
    try:
        await server.serve(sockets=[listen(settings.monitoring_host, port, setting="monitoring_port")])
    finally:
        server.close()
