"""Visits: from what workers see of people to rows in the database."""
