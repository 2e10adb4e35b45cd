"""What is counted of the roll-up."""

from prometheus_client import Counter, Gauge

slots = Counter("onlooker_metrics_slots_filled", "Slots of 15 minutes whose roll-up was filled")
marks = Gauge("onlooker_metrics_slots_marked", "Slots that wait to be filled; queries read their visits one by one")
