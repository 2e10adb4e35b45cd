"""What devices install the agent from: a script, a small package index and its files."""
