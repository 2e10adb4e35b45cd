"""Spans of a gateway and a dispatcher; only one that has `traces_url` set imports this."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from time import time_ns
from typing import Any

from msgspec.structs import replace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onlooker.bus.messages import Reply, Task
from onlooker.bus.traces import add_span, current_span, describe_task, record_span, span, trace_header
from onlooker.gateway.engine.engine import Engine
from onlooker.gateway.results import Results
from onlooker.gateway.stream_limits import SessionTurns
from onlooker_pipeline.catalogue.service import Service

_JOBS_PATH = re.compile(r"/services/[^/]+/[^/]+/jobs/?")


class TracedApp:
    """ASGI middleware: a request for a job begins its trace. A `traceparent` of a stranger is not believed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST" or not _JOBS_PATH.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
            return
        with span("request", context=Context(), kind=SpanKind.SERVER) as request:
            if not request.is_recording():
                await self._app(scope, receive, send)
                return
            await self._app(scope, receive, partial(_note_answer, request, send))
            request.set_attribute("onlooker.request_id", scope["request_id"])
            if "stream_id" in scope:
                request.set_attribute("onlooker.stream", scope["stream_id"])


async def _note_answer(request: Span, send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        request.set_attribute("http.response.status_code", message["status"])
        if message["status"] >= 500:
            request.set_status(StatusCode.ERROR)
        location = dict(message["headers"]).get(b"location", b"").decode()
        if location:
            request.set_attribute("onlooker.job", location.rpartition("/")[2].replace("-", ""))
    await send(message)


def trace_requests(turns: SessionTurns, results: Results) -> None:
    """The parts of a request besides the engine's."""
    _trace_turns(turns)
    add_span(results, "keep", "keep result")


def _trace_turns(turns: SessionTurns) -> None:
    """A request has been accepted when it begins to wait for its turn."""
    take = turns.take

    @asynccontextmanager
    async def traced(session: str | None) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            request = current_span()
            if request is None or request.start_time is None:
                await stack.enter_async_context(take(session))
            else:
                record_span("accept", request.start_time, time_ns())
                with span("wait for turn"):
                    await stack.enter_async_context(take(session))
            yield

    turns.take = traced  # type: ignore[method-assign,assignment]


def trace_engine(engine: Engine) -> None:
    """Where no request is traced, as in a dispatcher and for frames of a feed, a job's trace begins here."""
    run = engine.run

    async def traced(service: Service, task: Task, **options: Any) -> Reply:
        with span("engine", kind=SpanKind.CLIENT) as one:
            if not one.is_recording():
                return await run(service, task, **options)
            describe_task(one, task)
            reply = await run(service, replace(task, trace=trace_header()), **options)
            if reply.error_code:
                one.set_attribute("onlooker.error_code", reply.error_code)
            return reply

    engine.run = traced  # type: ignore[method-assign]
