"""A program of an earlier release, with the packages of this environment, for upgrades while devices send."""

from pathlib import Path

from bench.lib.cell_hosts import OWN_PROGRAM
from deploy.release.source_tree import unpack_commit

EARLIER = "6d9d325"
"""The first whose processes can be on several hosts: those before it know neither three NATS servers nor their TLS."""
SCRIPT = """#!/bin/sh
# It asks PostgreSQL at connecting for what a pooler in transaction mode refuses, so it goes past the pooler.
if [ -n "$ONLOOKER_DATABASE_DIRECT_URL_FILE" ]; then ONLOOKER_DATABASE_URL_FILE=$ONLOOKER_DATABASE_DIRECT_URL_FILE; fi
for later in {later}; do unset "ONLOOKER_$later"; done
export PYTHONPATH={sources}/server/src:{sources}/pipeline/src
exec {program} "$@"
"""
LATER = ("DATABASE_DIRECT_URL_FILE", "DATABASE_READ_URL_FILE", "STATE_COMPRESSION")
"""Settings that it does not know."""


def unpack_earlier(folder: Path) -> Path:
    """Its program; the history of this repository has to go back that far."""
    sources = unpack_commit(EARLIER, folder, "server/src", "pipeline/src")
    program = folder / "onlooker"
    program.write_text(SCRIPT.format(later=" ".join(LATER), sources=sources, program=OWN_PROGRAM))
    program.chmod(0o755)
    return program
