"""What a recorder counts."""

from prometheus_client import Counter, Gauge, Histogram

from onlooker.monitoring import by_labels

BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)

visits = by_labels(
    Counter(
        "onlooker_recorder_visits", "Visits by what came of them (written, known, expired, stream_gone)", ["outcome"]
    )
)
refused = by_labels(Counter("onlooker_recorder_refused", "Visits that could not be written, by reason", ["reason"]))
put_aside = by_labels(Counter("onlooker_recorder_put_aside", "Visits put aside, by reason", ["reason"]))
batch_time = Histogram("onlooker_recorder_batch_seconds", "Writing one batch", buckets=BUCKETS)
waiting = Gauge("onlooker_recorder_waiting", "Messages on the bus that no recorder has finished")
closed = by_labels(Counter("onlooker_recorder_sessions_closed", "Sessions closed here, by how they ended", ["how"]))
removed = by_labels(Counter("onlooker_recorder_removed", "What was removed after its time", ["kind"]))
