"""Frames on their way to the server: how many, how fast, and what becomes of each."""
