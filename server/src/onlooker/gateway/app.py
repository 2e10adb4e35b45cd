"""The gateway process: its ASGI app and its listeners."""

import asyncio
import logging

from starlette.types import ASGIApp

from onlooker.bus.connection import BusError
from onlooker.database import DATABASE_UNAVAILABLE
from onlooker.gateway import counters
from onlooker.gateway.admission import GatewayAdmission, guard_trials, is_routine
from onlooker.gateway.blobstore import StoreError
from onlooker.gateway.context import GatewayContext, open_context, readiness
from onlooker.gateway.routes import ROUTES
from onlooker.http.access_log import AccessLog
from onlooker.http.cors import SingleOrigin
from onlooker.http.gate import Gate, GateRules
from onlooker.http.routes import build_router, open_paths
from onlooker.http.servers import Listener, open_listeners, start_servers
from onlooker.logs import fields
from onlooker.monitoring import serve_monitoring, stop_signal
from onlooker.settings import Settings

log = logging.getLogger(__name__)


def build_app(context: GatewayContext) -> ASGIApp:
    """The routes behind the gate."""
    admission = GatewayAdmission(context, open_paths(ROUTES))
    rules = GateRules(
        context=context,
        cors=SingleOrigin(
            context.settings.console_url,
            methods="GET, POST, DELETE",
            request_headers="Authorization, Content-Type",
            exposed="Retry-After, X-Request-Id",
            max_age_s=7200,  # longer than browsers remember it
        ),
        access_log=AccessLog(log, counters.requests, counters.request_time),
        admit=admission.admit,
        note_refusal=admission.note_refusal,
        is_routine=is_routine,
        release=admission.release,
        unavailable=(*DATABASE_UNAVAILABLE, BusError, StoreError),
    )
    gate = Gate(build_router(ROUTES, guard_trials), rules)
    if not context.settings.traces_url:
        return gate
    from onlooker.gateway.traces import TracedApp

    return TracedApp(gate)


def open_gateway_listeners(settings: Settings, *, shared: bool = False) -> list[Listener]:
    return open_listeners(settings, https="https_port", http="http_port", shared=shared)


async def run_gateway(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in progress.

    A gateway that is alone lets connections wait until it can serve; one of several leaves them to the others.
    """
    is_alone = settings.gateways <= 1
    listeners = open_gateway_listeners(settings) if is_alone else []
    async with open_context(settings) as context, asyncio.TaskGroup() as group:
        stop = stop_signal()
        listeners = listeners or open_gateway_listeners(settings, shared=True)
        servers = start_servers(group, settings, build_app(context), listeners)
        monitoring = group.create_task(serve_monitoring(settings, lambda: readiness(context), context.clock.facts))
        log.info("gateway ready", extra=fields(url=settings.public_url))
        await stop.wait()
        for server in servers:
            server.leave()
        monitoring.cancel()
    log.info("gateway stopped")
