"""Whole ways through the product in a real browser."""
