"""Telling owners by e-mail that a stream fell silent, and that it is back."""
