"""What the agent reports about itself: log, health report, systemd."""
