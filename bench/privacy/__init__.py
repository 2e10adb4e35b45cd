"""What the product says to others and leaves on disk."""
