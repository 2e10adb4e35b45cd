"""The console under abuse."""
