"""How the agent tells of itself: log, health report, systemd."""
