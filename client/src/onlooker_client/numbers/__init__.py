"""The numbers of a stream, read from the data endpoint."""
