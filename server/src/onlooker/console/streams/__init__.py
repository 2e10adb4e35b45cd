"""Pages of streams: list, make, look, change, rotate, remove."""
