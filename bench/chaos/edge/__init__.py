"""Devices that compute by themselves: without a line, killed, torn, full, and with clocks that jump."""
