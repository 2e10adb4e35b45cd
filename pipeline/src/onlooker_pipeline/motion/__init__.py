"""What moved between two pictures. Pure functions, no bus, no session."""
