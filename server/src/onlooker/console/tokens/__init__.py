"""Tokens for programs: issued for a stream's credentials, signed with keys that anyone can verify."""
