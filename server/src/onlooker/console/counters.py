"""What a console counts."""

from prometheus_client import Counter, Gauge, Histogram

from onlooker.monitoring import by_labels

mails = by_labels(
    Counter("onlooker_console_mails", "E-mails by kind and what came of them (sent, failed)", ["kind", "outcome"])
)
chores = by_labels(
    Counter(
        "onlooker_console_chores", "Chores by name and what came of them (done, put_off, failed)", ["name", "outcome"]
    )
)
requests = by_labels(Counter("onlooker_console_requests", "Requests by route and status", ["route", "status"]))
request_time = by_labels(Histogram("onlooker_console_request_seconds", "Answering a request", ["route"]))
live = Gauge("onlooker_console_live", "Pages that are followed live at this moment")
live_refused = by_labels(
    Counter("onlooker_console_live_refused", "Pages that could not be followed live, by reason", ["reason"])
)
