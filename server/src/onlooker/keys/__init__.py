"""Restricted keys of an organisation: what programs show in the place of a person's sign-in or a stream's Password."""
