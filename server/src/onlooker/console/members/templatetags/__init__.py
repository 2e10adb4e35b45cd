"""Template tags about invitations, for other pages."""
