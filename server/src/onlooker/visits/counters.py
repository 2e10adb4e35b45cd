"""What a recorder counts: visits, sessions, what it removes, and the roll-up that it fills."""

from prometheus_client import Counter, Gauge, Histogram

from onlooker.monitoring import SECONDS_BUCKETS, by_labels

visits = by_labels(
    Counter(
        "onlooker_recorder_visits", "Visits by what came of them (written, known, expired, stream_gone)", ["outcome"]
    )
)
refused = by_labels(Counter("onlooker_recorder_refused", "Visits that could not be written, by reason", ["reason"]))
put_aside = by_labels(Counter("onlooker_recorder_put_aside", "Visits put aside, by reason", ["reason"]))
batch_time = Histogram("onlooker_recorder_batch_seconds", "Writing one batch", buckets=SECONDS_BUCKETS)
waiting = Gauge("onlooker_recorder_waiting", "Messages on the bus that no recorder has finished")
closed = by_labels(Counter("onlooker_recorder_sessions_closed", "Sessions closed here, by how they ended", ["how"]))
removed = by_labels(Counter("onlooker_recorder_removed", "What was removed after its time", ["kind"]))
slots_filled = Counter("onlooker_metrics_slots_filled", "Slots of 15 minutes whose roll-up was filled")
slots_marked = Gauge(
    "onlooker_metrics_slots_marked", "Slots that wait to be filled; queries read their visits one by one"
)
blocks_released = Counter(
    "onlooker_metrics_blocks_released", "Blocks of people that were released, of streams that tell in groups"
)
weeks_released = Counter(
    "onlooker_metrics_weeks_released", "Weeks that were released by gender and age, of streams that tell in groups"
)
