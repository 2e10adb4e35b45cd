"""What can be heard in one recording: where sounds come from. Pure functions, no bus, no session."""
