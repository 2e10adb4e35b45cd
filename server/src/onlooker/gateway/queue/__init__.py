"""The queue of accepted jobs: committed first, computed by a dispatcher, removed after their time."""
