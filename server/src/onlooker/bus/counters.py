"""How full the buckets of the bus are."""

from prometheus_client import Gauge

from onlooker.monitoring import by_labels

bucket_filled = by_labels(
    Gauge("onlooker_bucket_filled", "Share of a bucket's disk on the bus that is used", ["bucket"])
)
bucket_short = by_labels(
    Gauge("onlooker_bucket_short_seconds", "By how much the oldest record of a full bucket left too early", ["bucket"])
)
bucket_leader = by_labels(
    Gauge(
        "onlooker_bucket_leader", "Whether one of the bus's servers leads the bucket's stream, and answers", ["bucket"]
    )
)
