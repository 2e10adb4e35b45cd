"""What a gateway and a dispatcher count."""

from prometheus_client import Counter, Gauge, Histogram

from onlooker.monitoring import by_labels

BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)

requests = by_labels(Counter("onlooker_requests", "Requests by route and status", ["route", "status"]))
request_time = by_labels(
    Histogram("onlooker_request_seconds", "From the first byte to the answer", ["route"], buckets=BUCKETS)
)
refusals = by_labels(Counter("onlooker_refusals", "Refused requests by code", ["code"]))
jobs = by_labels(
    Counter(
        "onlooker_jobs",
        "Jobs by service, state (computed, failed, accepted, finished) and reason",
        ["service", "state", "reason"],
    )
)
queue_time = by_labels(
    Histogram("onlooker_job_queue_seconds", "From sending a job to computing it", ["service"], buckets=BUCKETS)
)
compute_time = by_labels(Histogram("onlooker_job_compute_seconds", "Computing a job", ["service"], buckets=BUCKETS))
resends = by_labels(
    Counter(
        "onlooker_job_resends",
        "Jobs sent once more, by reason (worker_died, worker_left, bus_lost, state_not_kept)",
        ["reason"],
    )
)
results_not_stored = Counter("onlooker_results_not_stored", "Results that were answered but could not be kept")
live_workers = Gauge("onlooker_live_workers", "Workers that answer on the bus")
swept = by_labels(Counter("onlooker_swept", "What was removed after its time", ["kind"]))
