"""Webhooks of organisations: their endpoints, who delivers, and the pages."""
