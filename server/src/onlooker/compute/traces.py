"""Spans of a worker; only one that has `traces_url` set imports this."""

from contextvars import ContextVar
from time import time_ns
from typing import Any

from opentelemetry.trace import SpanKind

from onlooker.bus.messages import Reply, Task
from onlooker.bus.traces import add_span, context_in, current_span, describe_task, record_span, span, spanned
from onlooker.compute.call_messages import CallAnswer, CallMessage
from onlooker.compute.processor import Processor, Publish
from onlooker.compute.sessions import Sessions
from onlooker_pipeline.catalogue.service import Service

LONGEST_S = 3600.0
_queued_at_ns: ContextVar[int] = ContextVar("queued_at_ns")


def traced_processor(sessions: Sessions, publish: Publish, computing: Any) -> Processor:
    """A processor that records the tasks which their gateway traces; for others it does nothing else."""
    add_span(sessions, "write", "write state")
    _trace_computing(computing)
    processor = Processor(sessions, spanned(publish, "publish visit"), computing)
    process = processor.process

    async def traced(service: Service, task: Task) -> Reply | None:
        if not task.trace:
            return await process(service, task)
        with span("task", context=context_in(task.trace), kind=SpanKind.SERVER) as one:
            describe_task(one, task)
            _queued_at_ns.set(time_ns())
            reply = await process(service, task)
            one.set_attribute("onlooker.outcome", reply.outcome.name.lower() if reply else "expired")
            return reply

    processor.process = traced  # type: ignore[method-assign]
    return processor


def _trace_computing(computing: Any) -> None:
    """In the queue is all that comes before computing: the session's turn, reading its state, the stream's turn."""
    compute = computing.compute

    async def traced(call: CallMessage, deadline: float) -> CallAnswer:
        answer: CallAnswer = await compute(call, deadline)
        if current_span() is not None:
            queued_at_ns, ended_ns = _queued_at_ns.get(), time_ns()
            # How long it took is the word of a process that is not believed.
            began_ns = max(queued_at_ns, ended_ns - round(min(answer.compute_s, LONGEST_S) * 1e9))
            record_span("queue", queued_at_ns, began_ns)
            record_span("compute", began_ns, ended_ns)
            _queued_at_ns.set(ended_ns)  # if another worker wrote meanwhile, it is computed again
        return answer

    computing.compute = traced
