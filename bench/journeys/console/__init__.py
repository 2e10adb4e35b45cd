"""A person's way through the console."""
