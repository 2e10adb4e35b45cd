"""Tracks people from frame to frame: pure, by timestamps, without identifying anybody."""
