"""What staff may see and do: Django's admin, without secrets."""
