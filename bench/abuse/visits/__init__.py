"""Abuse of the route that takes visits from devices."""
