"""Mails to owners whose stream went silent or whose camera sees nothing, and when that is over."""
