"""The agent: grabs, encodes, sends and shows, for years."""
