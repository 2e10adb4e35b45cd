"""Prometheus metrics of webhooks."""

from prometheus_client import Counter, Gauge

from onlooker.monitoring import by_labels

events = by_labels(
    Counter("onlooker_webhook_events", "Events for webhooks by outcome (queued, dropped, expired)", ["outcome"])
)
tries = by_labels(
    Counter(
        "onlooker_webhook_tries",
        "Tries to deliver an event by outcome (delivered, or why it failed)",
        ["outcome"],
    )
)
disabled = by_labels(Counter("onlooker_webhook_disabled", "Webhooks that were disabled, by reason", ["reason"]))
busy = Gauge("onlooker_webhook_busy", "Webhooks that are delivered to right now")
