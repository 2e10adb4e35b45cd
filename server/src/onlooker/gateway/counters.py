"""Prometheus metrics of a gateway and a dispatcher."""

from collections import OrderedDict

from prometheus_client import Counter, Gauge, Histogram

from onlooker.monitoring import SECONDS_BUCKETS, by_labels

requests = by_labels(Counter("onlooker_requests", "Requests by route and status", ["route", "status"]))
request_time = by_labels(
    Histogram("onlooker_request_seconds", "From the first byte to the answer", ["route"], buckets=SECONDS_BUCKETS)
)
refusals = by_labels(Counter("onlooker_refusals", "Refused requests by code", ["code"]))
refused_streams = Counter(
    "onlooker_stream_refusals",
    "Requests refused as too many, too large or too slow, by code, for the streams that were refused last",
    ["stream", "code"],
)
jobs = by_labels(
    Counter(
        "onlooker_jobs",
        "Jobs by service, state (computed, failed, accepted, finished) and reason",
        ["service", "state", "reason"],
    )
)
queue_time = by_labels(
    Histogram("onlooker_job_queue_seconds", "From sending a job to computing it", ["service"], buckets=SECONDS_BUCKETS)
)
compute_time = by_labels(
    Histogram("onlooker_job_compute_seconds", "Computing a job", ["service"], buckets=SECONDS_BUCKETS)
)
resends = by_labels(
    Counter(
        "onlooker_job_resends",
        "Jobs sent once more, by reason (worker_died, worker_left, bus_lost, state_not_kept)",
        ["reason"],
    )
)
results_not_stored = Counter("onlooker_results_not_stored", "Results that were answered but could not be kept")
live_workers = Gauge("onlooker_live_workers", "Workers that answer on the bus and whose clock is right")
worker_clock_offset = Gauge(
    "onlooker_worker_clock_offset_seconds",
    "How far a worker's clock is ahead, of workers whose clock is wrong",
    ["worker"],
)
device_items = by_labels(
    Counter(
        "onlooker_device_items",
        "What devices computed by themselves, by kind (visit, slot) and outcome (accepted, or why it was refused)",
        ["kind", "outcome"],
    )
)
swept = by_labels(Counter("onlooker_swept", "What was removed after its time", ["kind"]))

STREAMS_NAMED = 200
_named: OrderedDict[tuple[str, str], None] = OrderedDict()


def name_refused(stream_id: int, code: str) -> None:
    """Count a refusal under the stream's own name; only so many names are kept."""
    labels = (str(stream_id), str(code))
    _named[labels] = None
    _named.move_to_end(labels)
    refused_streams.labels(*labels).inc()
    if len(_named) > STREAMS_NAMED:
        refused_streams.remove(*_named.popitem(last=False)[0])
