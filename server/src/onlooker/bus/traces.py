"""Traces of jobs over the bus, by OpenTelemetry: only a process that has `traces_url` set imports this."""

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from onlooker import counters
from onlooker.bus.messages import Task
from onlooker.logs import fields
from onlooker.settings import Settings, SettingsError, variable_name

try:
    from opentelemetry import trace
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ModuleNotFoundError as error:
    raise SettingsError(
        f"{variable_name('traces_url')} is set, and {error.name} is not installed. Install what "
        "requirements-traces.txt of the release names, or remove the setting."
    ) from None

log = logging.getLogger(__name__)

SEND_LIMIT_S = 5
_carrier = TraceContextTextMapPropagator()
_tracer = trace.get_tracer("onlooker")


class CountedExporter(SpanExporter):
    """Counts what comes of spans, and says once that the collector is away."""

    def __init__(self, exporter: SpanExporter, url: str) -> None:
        self._exporter = exporter
        self._url = url
        self._is_sent = True

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._exporter.export(spans)
        except OSError:  # what its HTTP client raises
            result = SpanExportResult.FAILURE
        is_sent = result is SpanExportResult.SUCCESS
        counters.trace_spans.labels("sent" if is_sent else "lost").inc(len(spans))
        if self._is_sent and not is_sent:
            log.warning("traces can't be sent", extra=fields(url=self._url))
        elif is_sent and not self._is_sent:
            log.info("traces are sent again", extra=fields(url=self._url))
        self._is_sent = is_sent
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


def start_traces(settings: Settings, process: str, name: str) -> None:
    """Spans are sent in the background; what is left is sent when the process ends."""
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # we log ourselves when the collector is away
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(settings.traces_ratio)),
        resource=Resource({"service.name": f"onlooker-{process}", "service.instance.id": name}),
    )
    exporter = OTLPSpanExporter(endpoint=settings.traces_url, timeout=SEND_LIMIT_S)
    provider.add_span_processor(BatchSpanProcessor(CountedExporter(exporter, settings.traces_url)))
    trace.set_tracer_provider(provider)


@contextmanager
def span(name: str, **options: Any) -> Iterator[trace.Span]:
    """A part of a job's trace. Of an error only the kind is told: its text may quote what a stranger sent."""
    with _tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False, **options) as one:
        try:
            yield one
        except BaseException as error:
            one.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise


def record_span(name: str, began_ns: int, ended_ns: int) -> None:
    """A part that is known only when it is over."""
    _tracer.start_span(name, start_time=began_ns).end(ended_ns)


def current_span() -> ReadableSpan | None:
    """None where the job is not traced."""
    current = trace.get_current_span()
    return current if isinstance(current, ReadableSpan) else None


def spanned(call: Callable[..., Awaitable[Any]], name: str) -> Callable[..., Awaitable[Any]]:
    """The same call, as a part of the trace where there is one."""

    async def traced(*arguments: Any, **values: Any) -> Any:
        if current_span() is None:
            return await call(*arguments, **values)
        with span(name):
            return await call(*arguments, **values)

    return traced


def add_span(owner: object, method: str, name: str) -> None:
    """From now on a call of this method is a part of the trace."""
    setattr(owner, method, spanned(getattr(owner, method), name))


def describe_task(one: trace.Span, task: Task) -> None:
    """Ids only: nothing that a camera saw, and no name that a person chose."""
    one.set_attributes(
        {
            "onlooker.job": task.id,
            "onlooker.request_id": task.request_id,
            "onlooker.service": task.service,
            "onlooker.stream": task.sender.stream_id,
        }
    )


def trace_header() -> str:
    """The place in the trace, as a task carries it: W3C's `traceparent`."""
    headers: dict[str, str] = {}
    _carrier.inject(headers)
    return headers.get("traceparent", "")


def context_in(header: str) -> Context:
    return _carrier.extract({"traceparent": header})
