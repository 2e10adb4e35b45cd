"""The image and compose.yaml, built and run as an operator does."""
