"""Invitations to an organisation: sent, answered, revoked."""
