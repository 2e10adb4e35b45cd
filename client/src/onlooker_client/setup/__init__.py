"""Asks four questions, tests each answer at once, and saves them."""
