"""The command line with a clock that runs ahead: `python -m clock_ahead SECONDS gateway`."""

import sys
import time

_ahead_s = float(sys.argv.pop(1))
_read_clock = time.time
time.time = lambda: _read_clock() + _ahead_s

from onlooker.cli import main  # noqa: E402

main()
