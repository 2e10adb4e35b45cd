"""Streams, sites and tags side by side, and weeks before and after a day."""
