"""One module a service, with a `compute` function; loaded by workers only."""
