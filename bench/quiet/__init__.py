"""Whether the product calls anybody, or writes where it should not: run in a network namespace that is recorded."""
