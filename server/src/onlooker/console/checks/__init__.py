"""Checks of cameras: a person counts at the place, and the product compares its own count."""
