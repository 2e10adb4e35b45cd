"""The two commands, and what they have in common."""
