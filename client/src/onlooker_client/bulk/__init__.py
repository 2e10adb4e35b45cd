"""A recorded file, sent as fast as the server takes it."""
