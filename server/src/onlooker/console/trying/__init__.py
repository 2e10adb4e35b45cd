"""Trying a stream out with the browser's own camera."""
