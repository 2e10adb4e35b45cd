"""Accepted jobs: committed first, computed by a dispatcher, swept after their time."""
