"""How processes take HTTP in: sockets, TLS, limits on what comes before a request."""
