"""Backups, and whether what they bring back is what was there."""
