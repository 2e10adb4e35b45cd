"""Pages of streams: create, view, connect, change, try out, remove."""
