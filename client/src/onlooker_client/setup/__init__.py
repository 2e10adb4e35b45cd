"""Asks four questions, tests each answer at once, and keeps them."""
