"""The worker's Prometheus metrics."""

from prometheus_client import Counter, Gauge, Histogram

from onlooker.monitoring import SECONDS_BUCKETS, by_labels

BUCKETS = (0.001, *SECONDS_BUCKETS)

jobs = by_labels(Counter("onlooker_worker_jobs", "Tasks by service and how they ended", ["service", "outcome"]))
queue_time = by_labels(
    Histogram("onlooker_worker_queue_seconds", "From sending to computing", ["service"], buckets=BUCKETS)
)
compute_time = by_labels(Histogram("onlooker_worker_compute_seconds", "Computing", ["service"], buckets=BUCKETS))
session_loads = by_labels(
    Counter(
        "onlooker_worker_session_loads",
        "Session states read from the bus, by reason (unknown here, conflict with another worker, unreadable)",
        ["reason"],
    )
)
visits = by_labels(
    Counter("onlooker_worker_visits", "Visits left with the bus for a recorder, or refused by it", ["outcome"])
)
confined = Gauge("onlooker_worker_confined", "Whether the computing process has given everything up")
processes_ended = by_labels(
    Counter(
        "onlooker_worker_processes_ended",
        "Computing processes that ended, by reason (violation: a forbidden system call; exit; a signal's name)",
        ["reason"],
    )
)
processes_killed = by_labels(
    Counter(
        "onlooker_worker_processes_killed",
        "Computing processes that the worker ended, by reason (overdue, untrue answer, replaced after many "
        "jobs, evicted for another stream)",
        ["reason"],
    )
)
frames_skipped = by_labels(Counter("onlooker_frames_skipped", "Frames answered without looking, by reason", ["reason"]))
