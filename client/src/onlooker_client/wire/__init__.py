"""HTTP to one server: addresses, connections, requests, answers."""
