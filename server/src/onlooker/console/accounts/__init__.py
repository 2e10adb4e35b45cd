"""Accounts: sign-up, sign-in, second factor, sessions, deletion."""
