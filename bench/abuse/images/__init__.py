"""The image decoder under abuse."""
