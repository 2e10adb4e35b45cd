"""Prometheus metrics that several kinds of processes have."""

from prometheus_client import Counter, Gauge

ready = Gauge("onlooker_ready", "Whether this process can serve: 1 if all of its checks hold")
checks = Gauge(
    "onlooker_ready_check", "What a process needs before it can serve, by check: 1 if it is there", ["check"]
)
pool_connections = Gauge("onlooker_database_connections", "Connections of the pools by state (in_use, idle)", ["state"])
pool_limit = Gauge("onlooker_database_connections_limit", "Connections that the pools may hold")
pool_waiting = Gauge("onlooker_database_waiting", "Requests that wait for a connection of the pools")
certificate_days = Gauge(
    "onlooker_certificate_days", "Days until a certificate that this process shows expires, by its setting", ["setting"]
)
trace_spans = Counter(
    "onlooker_trace_spans", "Spans by what came of them (sent, lost), where jobs are traced", ["outcome"]
)
