"""What other pages show of billing."""
