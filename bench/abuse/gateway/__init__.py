"""The gateway under abuse."""
