"""What staff can see and do: Django's admin, without secrets."""
