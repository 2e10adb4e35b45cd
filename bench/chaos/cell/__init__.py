"""A cell of four hosts, each a network namespace, while its processes, hosts and networks fail."""
