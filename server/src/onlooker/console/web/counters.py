"""The console's Prometheus metrics."""

from prometheus_client import Counter, Gauge, Histogram

from onlooker.monitoring import by_labels

mails = by_labels(Counter("onlooker_console_mails", "E-mails by kind and outcome (sent, failed)", ["kind", "outcome"]))
chores = by_labels(
    Counter("onlooker_console_chores", "Chores by name and outcome (done, put_off, failed)", ["name", "outcome"])
)
requests = by_labels(Counter("onlooker_console_requests", "Requests by route and status", ["route", "status"]))
request_time = by_labels(Histogram("onlooker_console_request_seconds", "Time to answer a request", ["route"]))
live = Gauge("onlooker_console_live", "Pages with live updates right now")
live_refused = by_labels(Counter("onlooker_console_live_refused", "Live updates refused, by reason", ["reason"]))
device_health = by_labels(
    Counter("onlooker_device_health_reports", "Health reports of devices by outcome (accepted, or a code)", ["outcome"])
)
device_configurations = by_labels(
    Counter("onlooker_device_configurations", "Versions of configuration by what devices made of them", ["state"])
)
