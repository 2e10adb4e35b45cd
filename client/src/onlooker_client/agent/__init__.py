"""The agent: captures frames, sends them, and reports its own status."""
