"""Enrolment: a device joins a server with a code, and renews by itself what it got."""
