"""Visits: from the bus into the database, and out of it after their retention."""
