"""Onlooker: audience analytics you host yourself."""
