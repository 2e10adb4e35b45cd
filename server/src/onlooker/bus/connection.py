"""Connecting a process to the bus, for as long as it lives."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from nats.aio.client import Client
from nats.errors import Error as BusError

from onlooker.bus.roles import inbox_of
from onlooker.logs import fields
from onlooker.settings import Settings

log = logging.getLogger(__name__)

Listener = Callable[[], Awaitable[None]]


async def connect(settings: Settings, *, name: str, on_lost: Listener | None = None) -> Client:
    """Connect, waiting for the bus as long as it takes, and reconnect for ever after."""

    client = Client()

    async def lost() -> None:
        if client.is_closed:
            return  # we closed it ourselves
        log.warning("bus lost")
        if on_lost:
            await on_lost()

    async def found() -> None:
        log.info("bus found again")

    async def note(error: Exception) -> None:
        log.debug("bus error", extra=fields(error=repr(error)))

    waiting = False
    while True:
        try:
            await client.connect(
                settings.nats_url,
                name=name,
                user=settings.nats_user or None,
                password=settings.nats_password or None,
                inbox_prefix=inbox_of(settings.nats_user or name),
                allow_reconnect=True,
                max_reconnect_attempts=-1,
                reconnect_time_wait=0.1,  # type: ignore[arg-type]
                connect_timeout=2,
                ping_interval=5,
                max_outstanding_pings=2,
                pending_size=0,
                disconnected_cb=lost,
                reconnected_cb=found,
                error_cb=note,
            )
            return client
        except (TimeoutError, OSError, BusError) as error:
            if not waiting:
                log.warning("waiting for the bus", extra=fields(url=settings.nats_url, error=repr(error)))
                waiting = True
            await asyncio.sleep(0.2)
