"""Runs a command, such as the tests, with a PostgreSQL made for it; with the one it is given, where it is given one."""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack

from testkit.postgresql import own_cluster

TUNING = ("max_connections=400", "fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_wal_size=4GB")
"""Many stacks share it, and nobody needs it after a power cut."""

if sys.argv[1:3] != ["with-postgresql", "--"]:
    sys.exit("usage: python -m testkit with-postgresql -- COMMAND")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the server ends too
with ExitStack() as opened:
    environment = dict(os.environ)
    if "TEST_DATABASE_URL" not in environment:
        environment["TEST_DATABASE_URL"] = opened.enter_context(own_cluster(*TUNING)).url
    code = subprocess.run(sys.argv[3:], env=environment, check=False).returncode
sys.exit(code)
