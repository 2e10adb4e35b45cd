"""The dashboard: its numbers against the data endpoint's, and how it bears time and trouble."""
