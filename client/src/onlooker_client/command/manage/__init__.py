"""`onlooker-client manage`: what the console can do, from a terminal."""
