"""The data endpoint under abuse."""
