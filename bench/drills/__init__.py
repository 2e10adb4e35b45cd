"""Runs the checks and the drills that the justfile declares, and gives one verdict about them."""
