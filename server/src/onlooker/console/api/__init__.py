"""The management interface: what the console does, for programs that show a key of an organisation."""
