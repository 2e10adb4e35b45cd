"""Worlds of streams and visits, drawn at random, played through the product and compared with the oracle."""
