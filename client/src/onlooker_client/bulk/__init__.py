"""`onlooker-agent analyse`: a recorded file, sent as fast as the server accepts it."""
