"""From visits to numbers: the metrics, their roll-up by slot, and queries over any range."""
