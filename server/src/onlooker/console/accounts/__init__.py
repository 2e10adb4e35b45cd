"""People who own streams."""
