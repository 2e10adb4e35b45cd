"""The data endpoint: metrics of a stream over HTTP, for anyone who has its token."""
