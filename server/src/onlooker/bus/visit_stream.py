"""The JetStream stream in which visits wait for a recorder, and taking them out of it."""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable

import msgspec
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.client import JetStreamContext
from nats.js.errors import NotFoundError

from onlooker.bus.bucket_setup import with_replicas
from onlooker.bus.connection import ANSWER_LIMIT_S, Bus, BusError
from onlooker.bus.roles import RECORDER
from onlooker.bus.subjects import VISITS, ended_subject, visits_subject
from onlooker.logs import fields
from onlooker.settings import Settings

log = logging.getLogger(__name__)

CONSUMER = RECORDER
"""All recorders share it, so each message goes to one of them."""
ACK_WAIT_S = 30.0
"""A message that is not acknowledged within this time is delivered again."""
ASK_FOR_S = 2.0
"""How long the server keeps a request open. One that was lost with the bus is repeated afterwards."""
COLLECT_S = 0.5
PAUSE_S = 1.0

ASK_SUBJECT = f"$JS.API.CONSUMER.MSG.NEXT.{VISITS}.{CONSUMER}"
INFO_SUBJECT = f"$JS.API.CONSUMER.INFO.{VISITS}.{CONSUMER}"

_EXPIRED = "408"


def visit_stream_config(settings: Settings) -> StreamConfig:
    return StreamConfig(
        name=VISITS,
        subjects=[visits_subject("*"), ended_subject("*")],
        retention=RetentionPolicy.WORK_QUEUE,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,  # full: workers are refused, and nothing that was accepted is lost
        max_bytes=settings.visits_disk_bytes,
        max_age=settings.visits_age_s,
        duplicate_window=1,
    )


def consumer_config() -> ConsumerConfig:
    return ConsumerConfig(
        name=CONSUMER,
        durable_name=CONSUMER,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_WAIT_S,
        max_deliver=-1,
        max_ack_pending=10_000,
    )


async def prepare_visit_stream(jetstream: JetStreamContext, settings: Settings) -> None:
    """Create the stream and its consumer, or update their limits to the settings."""
    config = visit_stream_config(settings)
    try:
        found = (await jetstream.stream_info(VISITS)).config
    except NotFoundError:
        await jetstream.add_stream(with_replicas(config, settings, None))
    else:
        await jetstream.update_stream(with_replicas(config, settings, found))
    await jetstream.add_consumer(VISITS, consumer_config())


class _Consumer(msgspec.Struct):
    num_pending: int = 0
    num_ack_pending: int = 0


_decode_consumer = msgspec.json.Decoder(_Consumer).decode


def deliveries(message: Msg) -> int:
    """How many times a message was delivered, this time included."""
    return message.metadata.num_delivered


class VisitQueue:
    """Takes messages in batches. Each must be acknowledged, or it is delivered again."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._inbox = bus.client.new_inbox()
        self._arrived: deque[Msg] = deque()
        self._asked = 0
        """Messages that the server may still send without being asked again."""
        self._news = asyncio.Event()

    async def start(self) -> None:
        await self._bus.client.subscribe(self._inbox, cb=self._note)

    async def take(self, limit: int) -> list[Msg]:
        """Up to `limit` messages, collected for half a second; none if none arrive for a while."""
        if not self._arrived and not self._asked and not await self._ask(limit):
            await asyncio.sleep(PAUSE_S)
            return []
        if not self._arrived and not await self._wait(ASK_FOR_S + ANSWER_LIMIT_S):
            self._asked = 0  # lost with the bus
        give_up_at = asyncio.get_running_loop().time() + COLLECT_S
        while 0 < len(self._arrived) < limit and self._asked:
            if not await self._wait(give_up_at - asyncio.get_running_loop().time()):
                break
        return [self._arrived.popleft() for _ in range(min(limit, len(self._arrived)))]

    async def _ask(self, limit: int) -> bool:
        request = msgspec.json.encode({"batch": limit, "expires": int(ASK_FOR_S * 1e9)})
        self._asked = limit
        try:
            await self._bus.publish(ASK_SUBJECT, request, reply=self._inbox)
        except BusError:
            self._asked = 0
            return False
        return True

    async def _wait(self, timeout_s: float) -> bool:
        """Wait until something arrives, or the server says that nothing does. False if it is silent."""
        self._news.clear()
        try:
            async with asyncio.timeout(timeout_s):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    async def _note(self, message: Msg) -> None:
        status = (message.headers or {}).get("Status")
        if status is None:
            self._arrived.append(message)
            self._asked = max(self._asked - 1, 0)
        else:
            if status != _EXPIRED:
                log.warning("no visits available", extra=fields(status=status, stream=VISITS))
                await asyncio.sleep(PAUSE_S)
            self._asked = 0
        self._news.set()

    async def acknowledge(self, messages: Iterable[Msg]) -> None:
        """They are done. If the bus is away they are delivered again, which is harmless."""
        await self._answer(messages, b"+ACK")

    async def postpone(self, message: Msg, delay_s: float) -> None:
        await self._answer([message], b"-NAK " + msgspec.json.encode({"delay": int(delay_s * 1e9)}))

    async def keep(self, messages: Iterable[Msg]) -> None:
        """They are still being processed here, and so are those that arrived meanwhile."""
        await self._answer([*messages, *self._arrived], b"+WPI")

    async def give_back(self) -> None:
        """Let another recorder have at once what arrived here and was not taken."""
        await self._answer(self._arrived, b"-NAK")
        self._arrived.clear()

    async def _answer(self, messages: Iterable[Msg], answer: bytes) -> None:
        try:
            for message in messages:
                await self._bus.publish(message.reply, answer)
        except BusError:
            log.warning("visits not acknowledged: the bus is away")

    async def count_waiting(self) -> int:
        """Messages that no recorder has acknowledged yet; raises BusError."""
        answer = await self._bus.ask(INFO_SUBJECT, timeout_s=ANSWER_LIMIT_S)
        consumer = _decode_consumer(answer.data)
        return consumer.num_pending + consumer.num_ack_pending
