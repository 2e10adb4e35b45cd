"""What happened in front of the cameras: the overview of all streams, and a stream's dashboard."""
