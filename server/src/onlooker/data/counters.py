"""What a data endpoint counts."""

from prometheus_client import Counter, Histogram

from onlooker.monitoring import by_labels

BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)

requests = by_labels(Counter("onlooker_data_requests", "Requests by route and status", ["route", "status"]))
request_time = by_labels(
    Histogram("onlooker_data_request_seconds", "From the first byte to the answer's end", ["route"], buckets=BUCKETS)
)
refusals = by_labels(Counter("onlooker_data_refusals", "Refused requests by code", ["code"]))
query_time = by_labels(
    Histogram("onlooker_data_query_seconds", "Asking the database for one page", ["time"], buckets=BUCKETS)
)
