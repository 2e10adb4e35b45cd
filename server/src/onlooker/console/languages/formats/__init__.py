"""How each language writes dates and times; numbers are as in Django's own formats."""
