"""What one stream can do to another that shares its server."""
