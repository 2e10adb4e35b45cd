"""`onlooker up`: the whole product on one machine."""
