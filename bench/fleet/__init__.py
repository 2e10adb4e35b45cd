"""Hundreds of simulated devices at the real product."""
