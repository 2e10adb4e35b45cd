"""Streams, their credentials and their use: what several stages read."""
