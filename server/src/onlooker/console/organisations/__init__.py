"""The pages of organisations: members and their roles, sites, settings, the audit log."""
