"""Frames on their way in: read from the source, stamped, and chosen for sending."""
