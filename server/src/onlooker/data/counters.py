"""Prometheus metrics of a data endpoint."""

from prometheus_client import Counter, Histogram

from onlooker.monitoring import SECONDS_BUCKETS, by_labels

requests = by_labels(Counter("onlooker_data_requests", "Requests by route and status", ["route", "status"]))
request_time = by_labels(
    Histogram(
        "onlooker_data_request_seconds", "From the first byte to the answer's end", ["route"], buckets=SECONDS_BUCKETS
    )
)
refusals = by_labels(Counter("onlooker_data_refusals", "Refused requests by code", ["code"]))
query_time = by_labels(
    Histogram("onlooker_data_query_seconds", "Asking the database for one page", ["time"], buckets=SECONDS_BUCKETS)
)
