"""What code of a stranger can do in a computing process."""
