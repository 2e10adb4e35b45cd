"""The console process: Django behind request limits, static files, and chores in the background."""

import asyncio
import logging
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.core.asgi import get_asgi_application
from django.db import connection
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import PathLike, StaticFiles
from starlette.types import ASGIApp

from onlooker.child_process import collect_garbage_rarely
from onlooker.clock_check import ClockCheck
from onlooker.console.agent.views import FILES_PATH, send_wheel
from onlooker.console.agent.wheels import require_agent_packages
from onlooker.console.billing.configuration import require_billing_settings
from onlooker.console.documentation.static_site import SITE, site_routes
from onlooker.console.event_streams import EventStreams
from onlooker.console.tokens.json_views import TOKEN_PATHS, allow_all_origins
from onlooker.console.web.address_rate_limit import OPEN_AREAS, AddressRateLimit
from onlooker.console.web.chores import run_chores
from onlooker.console.web.device_rate_limit import DeviceRateLimit
from onlooker.console.web.health import is_database_there
from onlooker.console.web.request_limits import RequestLimits
from onlooker.console.web.secret_key import require_secret_key
from onlooker.database import open_pool, watch_pool
from onlooker.http.servers import connection_limits, make_server, open_listeners
from onlooker.logs import fields
from onlooker.monitoring import serve_monitoring, stop_signal
from onlooker.settings import Settings
from onlooker.standby import NumbersPool, open_numbers_pool
from onlooker.webhooks.pinned_post import Outbound, open_outbound

log = logging.getLogger(__name__)

STATIC_PACKAGES = ("onlooker.console", "django_htmx", "django.contrib.admin")
KEPT = "public, max-age=31536000, immutable"
HEALTH_EVERY_S = 5.0


class PackageStaticFiles(StaticFiles):
    """Static files, served from the installed packages; browsers revalidate their copies.

    A font has its release in its name, and is kept: text waits for it on every page.
    """

    def file_response(self, full_path: PathLike, *arguments: Any, **values: Any) -> Response:
        response = super().file_response(full_path, *arguments, **values)
        kept = KEPT if str(full_path).endswith(".woff2") else "no-cache"
        response.headers.update({"Cache-Control": kept, "X-Content-Type-Options": "nosniff"})
        return response


def build_app(settings: Settings, numbers: NumbersPool) -> Starlette:
    """The pool is for metrics, which pages read through `console/numbers.py`."""
    static = GZipMiddleware(
        PackageStaticFiles(packages=[(name, "static") for name in STATIC_PACKAGES]), compresslevel=6
    )
    pages = RequestLimits(cast(ASGIApp, get_asgi_application()), requests_limit=settings.console_requests_limit)
    live = EventStreams(pages, limit=settings.console_live_limit, account_limit=settings.console_live_limit_per_account)
    tokens = [Route(path, allow_all_origins(live)) for path in TOKEN_PATHS]
    wheels = Route(FILES_PATH + "{name}", send_wheel)
    routes = [Mount("/static", static), *site_routes(SITE), wheels, *tokens, Mount("/", live)]
    limits = [Middleware(DeviceRateLimit), *(Middleware(AddressRateLimit, area=area) for area in OPEN_AREAS)]
    app = Starlette(routes=routes, middleware=limits)
    app.state.numbers, app.state.live = numbers, live
    return app


async def run_console(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish the open requests."""
    require_secret_key(settings)
    require_billing_settings(settings)
    require_agent_packages(settings)
    outbound = open_outbound(settings)
    _share_connections(settings)
    listeners = open_listeners(settings, https="console_https_port", http="console_http_port")
    checks, clock = {"database": False, "clock": True}, ClockCheck(settings)
    async with (
        open_numbers_pool(settings) as numbers,
        open_pool(settings, size=1) as primary,
        asyncio.TaskGroup() as group,
    ):
        await clock.measure(primary)
        stop = stop_signal()
        app = build_app(settings, numbers)
        app.state.clock = clock
        limits = connection_limits(settings)
        servers = [make_server(settings, app, listener, limits) for listener in listeners]
        for server, listener in zip(servers, listeners, strict=True):
            group.create_task(server.serve(sockets=[listener.listening]))
        background = [
            group.create_task(_watch_database(checks, clock)),
            group.create_task(clock.run(primary)),
            group.create_task(run_chores(settings, may_run=lambda: clock.is_right)),
            group.create_task(_deliver_webhooks(outbound, clock)),
            group.create_task(serve_monitoring(settings, lambda: checks, clock.facts)),
        ]
        collect_garbage_rarely()
        log.info("console ready", extra=fields(url=settings.console_url))
        await stop.wait()
        app.state.live.end()  # otherwise the servers would wait for them
        for server in servers:
            server.leave()
        for task in background:
            task.cancel()
    log.info("console stopped")


def _share_connections(settings: Settings) -> None:
    """Each request runs on a new thread, so connections come from a pool."""
    database: dict[str, Any] = django_settings.DATABASES["default"]
    database["OPTIONS"]["pool"] = {"min_size": 1, "max_size": settings.database_pool_size, "timeout": 5}
    watch_pool(cast(Any, connection).pool)


async def _deliver_webhooks(outbound: Outbound, clock: ClockCheck) -> None:
    from onlooker.console.webhooks.deliverer import Deliverer  # its tables need Django, which build_app sets up

    await Deliverer(outbound).run(may_run=lambda: clock.is_right)


async def _watch_database(checks: dict[str, bool], clock: ClockCheck) -> None:
    while True:
        checks["clock"] = clock.is_right
        checks["database"] = await sync_to_async(is_database_there, thread_sensitive=False)()
        await asyncio.sleep(HEALTH_EVERY_S)
