"""Tokens for programs: made for a stream's credentials, signed with keys that anybody can check."""
