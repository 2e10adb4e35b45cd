"""The chart of a stream's numbers over time: what is chosen for it, read and shown."""
