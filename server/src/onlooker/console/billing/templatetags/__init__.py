"""Template tags about billing, for other pages."""
