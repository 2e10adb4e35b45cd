"""Commands that show what the product does; the last line of each is one JSON object."""
