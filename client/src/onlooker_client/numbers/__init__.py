"""The numbers of a stream, from the data endpoint."""
