"""Exit codes, as sysexits.h and system administrators know them."""

OK = 0
"""All went well: stopped as told, the video ended, nothing was found to fix."""
FAULTS_FOUND = 1
"""doctor found something to fix; analyse could not send all of a video; check: the stream takes no frames now."""
USAGE = 2
"""A wrong option (argparse's own code), or one that the server refuses: no such stream, a name that is taken."""
NO_INPUT = 66
"""A file that can't be opened. A camera is waited for instead."""
UNAVAILABLE = 69
"""The server can't be reached, where there is nothing to wait for."""
BROKEN = 70
"""A fault of this program."""
CONFIG = 78
"""Address, Login, Password, key or another setting is missing or wrong, or a key may not do what was asked."""
