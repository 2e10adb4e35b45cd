"""Checks camera, network, server and stream, and says what to fix."""
