"""Webhooks: what an organisation's own programs are told, kept in an outbox until it is delivered."""
