"""Renders the documentation as a site that the console serves at /docs/."""
