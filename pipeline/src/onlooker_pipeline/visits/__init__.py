"""Sightings folded into visits."""
