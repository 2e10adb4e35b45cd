"""Backups of an installation, the database and the secrets, in one encrypted file; and restoring them."""
