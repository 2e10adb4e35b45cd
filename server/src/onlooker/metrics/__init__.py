"""From visits to numbers: the metrics, their roll-up by quarter of an hour, and queries over any range."""
