"""A feed's input: frames as parts of one long body, computed one after the other."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request

from onlooker.bus.connection import BusError, NobodyThere
from onlooker.bus.messages import Task, failure
from onlooker.bus.subjects import feed_subject
from onlooker.errors import Code, Problem, bad_request
from onlooker.gateway.bodies import CLOSE, parse_object
from onlooker.gateway.context import GatewayContext, held_bytes_of, holder_of
from onlooker.gateway.engine.tasks import new_task, sender_of
from onlooker.gateway.feeds.multipart_reader import MultipartPart, MultipartReader
from onlooker.gateway.feeds.output import AGAIN, END, FeedRecord, feed_key
from onlooker.gateway.jobs import compute
from onlooker.gateway.meters import is_for_visits
from onlooker.gateway.permits import permit_hours, permit_job
from onlooker.streams.coverage import reason_of
from onlooker.streams.credentials import StreamRecord
from onlooker_pipeline.catalogue.service import Service

PARAMETERS_LIMIT_BYTES = 16 * 1024
REFRESH_EVERY_S = 20.0
OUTPUT_RETRY_S = 0.1


@dataclass(frozen=True)
class FeedFrame:
    """One part: the field its bytes are for, the fields that came with it, the bytes."""

    field: str
    params: dict[str, Any]
    data: bytes


class FeedInput:
    """Computes the frames of one input connection, in order, and hands each result to the output."""

    def __init__(
        self, context: GatewayContext, stream: StreamRecord, service: Service, record: FeedRecord, *, feed_id: uuid.UUID
    ) -> None:
        self._context = context
        self._stream = stream
        self._service = service
        self._record = record
        self._feed_id = feed_id
        self._refreshed_at = time.monotonic()

    async def take(self, request: Request, boundary: str) -> dict[str, int]:
        """Take frames until the input ends; returns how many there were."""
        frames = 0
        try:
            async for frame in self._frames(request, boundary):
                await self._refresh()
                result = await self._compute(frame, request)
                if not await self._hand_over(result):
                    break
                frames += 1
        finally:
            await self._hand_over(END)
        return {"frames": frames}

    async def _frames(self, request: Request, boundary: str) -> AsyncIterator[FeedFrame]:
        reader = MultipartReader(boundary, limit_bytes=self._context.settings.body_limit_bytes)
        chunks, held_bytes = request.stream(), held_bytes_of(request)
        while not reader.ended:
            chunk = await self._next_chunk(chunks)
            if chunk is None:
                if not reader.is_between_parts:
                    raise bad_request("The multipart body is malformed: it ends inside a part.")
                return
            for part in reader.feed(chunk):
                yield _read_frame(part)
            held_bytes.hold(reader.buffered_bytes)

    async def _next_chunk(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """The next bytes, or None when the input has ended; an idle one is refused."""
        idle_s = self._context.settings.feed_idle_s
        try:
            async with asyncio.timeout(idle_s):
                async for chunk in chunks:
                    if chunk:
                        return chunk
        except TimeoutError:
            detail = f"Nothing came for {idle_s:g} seconds. Open a new stream."
            raise Problem(Code.REQUEST_TIMEOUT, detail, headers=CLOSE) from None
        return None

    async def _compute(self, frame: FeedFrame, request: Request) -> bytes:
        """The result of one frame; a refusal becomes an `error` in it."""
        arrived_at = time.time()
        try:
            self._stream = await request.scope["check_again"]()
            wait_s = self._context.rates.wait_s(self._stream.id)
            while wait_s > 0:
                await asyncio.sleep(wait_s)
                wait_s = self._context.rates.wait_s(self._stream.id)
            permit_job(self._context, self._stream, self._service)
            params = self._record.params | frame.params
            permit_hours(self._stream, self._service, params, arrived_at=arrived_at)
            task = self._task(frame, request.scope["request_id"], arrived_at)
            async with self._context.turns.take(self._record.session):
                await self._context.order.await_accepted(self._record.session)
                reply = await compute(self._context, self._stream, self._service, task, holder=holder_of(request))
        except Problem as problem:
            self._count_refused(frame, problem.code)
            return failure(problem.code, problem.detail)
        return reply.result

    def _count_refused(self, frame: FeedFrame, code: Code) -> None:
        """A frame with credentials that are no longer valid belongs to no stream."""
        if code is not Code.BAD_CREDENTIALS and is_for_visits(self._service, self._record.params | frame.params):
            self._context.meters.coverage.add_refused(self._stream.id, reason_of(code))

    def _task(self, frame: FeedFrame, request_id: str, arrived_at: float) -> Task:
        media = {field.name for field in self._service.media_fields}
        if media and frame.field not in media:
            raise bad_request(f"X-Angus-DataField must be one of {', '.join(sorted(media))}.")
        params = self._record.params | frame.params
        for field in self._service.fields:
            complaint = field.complaint(params[field.name]) if field.name in params else None
            if complaint:
                raise bad_request(complaint)
        own = {name: value for name, value in params.items() if name not in media}
        attachments = {frame.field: frame.data} if frame.field in media else {}
        return new_task(
            self._service,
            own,
            attachments,
            job_id=uuid.uuid4(),
            sender=sender_of(self._stream),
            arrived_at=arrived_at,
            session=self._record.session,
            request_id=request_id,
            time_limit_s=self._context.settings.job_time_limit_s,
        )

    async def _hand_over(self, result: bytes) -> bool:
        """Give a result to the holder of the output and wait until it is written; False if there is none."""
        subject = feed_subject(self._feed_id.hex)
        give_up_at = time.monotonic() + (self._context.settings.feed_idle_s if result != END else 1.0)
        payload = result if result == END else json.dumps(json.loads(result)).encode("ascii")
        while time.monotonic() < give_up_at:
            try:
                answer = await self._context.bus.ask(subject, payload, timeout_s=self._context.settings.feed_idle_s)
            except NobodyThere:
                await asyncio.sleep(OUTPUT_RETRY_S)
            except BusError:
                return False
            else:
                if answer.data != AGAIN:
                    return True
        return False

    async def _refresh(self) -> None:
        """A feed in use does not expire."""
        if time.monotonic() - self._refreshed_at > REFRESH_EVERY_S:
            self._refreshed_at = time.monotonic()
            key = feed_key(self._stream.id, self._feed_id)
            await self._context.feeds.put(key, msgspec.msgpack.encode(self._record))


def _read_frame(part: MultipartPart) -> FeedFrame:
    field = part.headers.get("x-angus-datafield")
    if not field:
        raise bad_request("A part has no X-Angus-DataField header: the field its bytes are for.")
    parameters = part.headers.get("x-angus-parameters", "{}").encode()
    if len(parameters) > PARAMETERS_LIMIT_BYTES:
        raise bad_request(f"X-Angus-Parameters may have {PARAMETERS_LIMIT_BYTES} bytes.")
    return FeedFrame(field, parse_object(parameters), part.data)
