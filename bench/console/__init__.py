"""A person's way through the console, in a real browser."""
