"""What of the numbers leaves the console: read-only links, and reports by e-mail."""
