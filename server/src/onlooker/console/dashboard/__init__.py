"""What happened in front of a stream's camera, at a glance."""
