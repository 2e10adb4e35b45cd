"""The documentation's site, which is open to everyone at /docs/."""
