"""Looks for what is wrong, and says in plain words what to fix."""
