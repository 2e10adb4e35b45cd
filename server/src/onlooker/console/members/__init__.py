"""Sharing a stream: owners invite viewers, and can remove them."""
