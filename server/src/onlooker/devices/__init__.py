"""Devices: boxes that enrol with a code, get credentials of their own, and can be revoked and replaced."""
