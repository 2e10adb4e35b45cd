"""What is deployed, checked with the tools of those who run it."""
