"""Hostile questions to the data endpoint: what is asked, with which tokens, and how answers are judged."""
