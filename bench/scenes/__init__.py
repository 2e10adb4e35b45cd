"""Labelled scenes played through the product, and the visits they leave compared with what was really there."""
