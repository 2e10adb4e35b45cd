"""For CI: is there a PostgreSQL, and running a command with one made for it."""

import os
import subprocess
import sys

from onlooker.testing.postgresql import is_reachable, own_cluster

if sys.argv[1:] == ["reachable"]:
    sys.exit(0 if is_reachable() else 1)
elif sys.argv[1:3] == ["with-postgresql", "--"]:
    with own_cluster() as cluster:
        environment = os.environ | {"TEST_DATABASE_URL": cluster.url}
        code = subprocess.run(sys.argv[3:], env=environment, check=False).returncode
    sys.exit(code)
else:
    sys.exit("usage: python -m onlooker.testing reachable | with-postgresql -- COMMAND")
