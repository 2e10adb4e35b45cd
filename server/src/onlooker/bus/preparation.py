"""Creating the streams and buckets of the bus, and waiting until all of their replicas are up to date."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import nats
import nats.errors
from nats.js.client import JetStreamContext

from onlooker.bus.bucket_setup import prepare_buckets
from onlooker.bus.comparison import StreamComparison, compare_bus
from onlooker.bus.connection import bus_addresses, tls_of
from onlooker.bus.roles import SETUP, inbox_of
from onlooker.bus.visit_stream import prepare_visit_stream
from onlooker.settings import Settings, SettingsError

BUS_NOT_READY = (OSError, nats.errors.Error, TimeoutError)
"""What is raised while the servers of the bus are starting, or choose a leader."""
READY_LIMIT_S = 180.0
RETRY_S = 1.0
SETTLED_S = 15.0
"""How long replicas that were just added must stay up to date: before that, their stream may not outlive its leader."""

Say = Callable[[str], None]


@asynccontextmanager
async def open_setup(settings: Settings, password: str) -> AsyncIterator[JetStreamContext]:
    """JetStream as the role that may create streams; raises one of BUS_NOT_READY, or SettingsError if it is refused."""
    errors: list[Exception] = []

    async def note(error: Exception) -> None:
        errors.append(error)

    try:
        connection = await nats.connect(
            bus_addresses(settings),
            tls=tls_of(settings),
            user=SETUP,
            password=password,
            inbox_prefix=inbox_of(SETUP),
            connect_timeout=2,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            error_cb=note,
        )
    except BUS_NOT_READY as error:
        if any("authorization" in str(one).lower() for one in errors):
            raise SettingsError(
                f"The bus at {settings.nats_url} refuses the user {SETUP!r}. Give its password in "
                "ONLOOKER_NATS_PASSWORD, or the file that has it with --passwords."
            ) from None
        raise errors[-1] if errors else error from None
    try:
        yield connection.jetstream(timeout=10)
    finally:
        await connection.close()


async def prepare_bus(settings: Settings, password: str) -> None:
    """Create the buckets and the stream of visits, or update them to the settings."""
    async with open_setup(settings, password) as jetstream:
        await prepare_buckets(jetstream, settings)
        await prepare_visit_stream(jetstream, settings)


async def check_bus(settings: Settings, password: str) -> list[StreamComparison]:
    """What is there, compared with the settings; raises SettingsError if the bus does not answer."""
    try:
        async with open_setup(settings, password) as jetstream:
            return await compare_bus(jetstream, settings)
    except BUS_NOT_READY as error:
        raise SettingsError(f"The bus at {settings.nats_url} does not answer: {_words(error)}") from None


def _words(error: Exception) -> str:
    return str(error).removeprefix("nats: ") or type(error).__name__


async def prepare_and_wait(
    settings: Settings, password: str, say: Say, *, limit_s: float = READY_LIMIT_S
) -> list[StreamComparison]:
    """The same, tried again while the bus is not ready; then wait until everything is as the settings say."""
    give_up_at, right_since, said = time.monotonic() + limit_s, 0.0, ""
    is_prepared = has_new_replicas = False
    while True:
        compared: list[StreamComparison] = []
        try:
            async with open_setup(settings, password) as jetstream:
                if not is_prepared:
                    has_new_replicas |= await _lacks_replicas(jetstream, settings)
                    await prepare_buckets(jetstream, settings)
                    await prepare_visit_stream(jetstream, settings)
                    is_prepared = True
                compared = await compare_bus(jetstream, settings)
            reason = next((sentence for one in compared for sentence in one.differences), "")
        except BUS_NOT_READY as error:
            reason = _words(error)
        now = time.monotonic()
        if reason:
            right_since = 0.0
        else:
            right_since = right_since or now
            if not has_new_replicas or now >= right_since + SETTLED_S:
                return compared
        if now > give_up_at:
            raise SettingsError(f"The bus is not ready after {limit_s:g} s: {reason}")
        reason = reason or f"New replicas are up to date. For {SETTLED_S:g} s they must stay so."
        if reason != said:
            say(f"Waiting for the bus: {reason}")
            said = reason
        await asyncio.sleep(RETRY_S)


async def _lacks_replicas(jetstream: JetStreamContext, settings: Settings) -> bool:
    """Whether a stream that is there already gets more replicas now."""
    found = [info.config for info in await jetstream.streams_info()]
    return any((config.num_replicas or 1) < settings.bus_replicas for config in found)
