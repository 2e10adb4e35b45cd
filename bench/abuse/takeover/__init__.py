"""What code of a stranger can reach from each process."""
