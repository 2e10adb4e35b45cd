"""A role of PostgreSQL for each process, with the grants that it needs."""
