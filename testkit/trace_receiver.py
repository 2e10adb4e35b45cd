"""A collector of traces: takes what processes send with OTLP over HTTP, and reads it with the official classes."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PATH = "/v1/traces"


@dataclass(frozen=True)
class ReceivedSpan:
    """One span, and the process that sent it."""

    process: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    began_ns: int
    ended_ns: int
    attributes: dict[str, str | int]


@dataclass
class TraceReceiver:
    """What has come so far, as bytes; read when somebody asks."""

    url: str
    bodies: list[bytes] = field(default_factory=list)

    def spans(self) -> list[ReceivedSpan]:
        return [span for body in list(self.bodies) for span in _spans_in(body)]

    def await_spans(self, are_there: Callable[[list[ReceivedSpan]], bool], *, within_s: float = 20) -> None:
        give_up_at = time.monotonic() + within_s
        while not are_there(self.spans()):
            assert time.monotonic() < give_up_at, [(one.process, one.name) for one in self.spans()]
            time.sleep(0.1)


def _spans_in(body: bytes) -> Iterator[ReceivedSpan]:
    for group in ExportTraceServiceRequest.FromString(body).resource_spans:
        process = next(one.value.string_value for one in group.resource.attributes if one.key == "service.name")
        for span in (span for scope in group.scope_spans for span in scope.spans):
            yield ReceivedSpan(
                process=process,
                name=span.name,
                trace_id=span.trace_id.hex(),
                span_id=span.span_id.hex(),
                parent_id=span.parent_span_id.hex(),
                began_ns=span.start_time_unix_nano,
                ended_ns=span.end_time_unix_nano,
                attributes={one.key: one.value.string_value or one.value.int_value for one in span.attributes},
            )


@contextmanager
def trace_receiver() -> Iterator[TraceReceiver]:
    """Receives until the block ends."""
    receiver = TraceReceiver("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_ours = self.path == PATH and self.headers["Content-Type"] == "application/x-protobuf"
            if is_ours:
                receiver.bodies.append(body)
            self.send_response(200 if is_ours else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}{PATH}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield receiver
        finally:
            server.shutdown()
