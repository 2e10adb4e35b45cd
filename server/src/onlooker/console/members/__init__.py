"""Sharing a stream: an owner invites a viewer, and can end it."""
