"""Mails to owners whose stream went silent, or is back."""
