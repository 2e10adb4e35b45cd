"""`onlooker-client`: the SDK from a terminal."""

from __future__ import annotations

import argparse

from onlooker_client.command import check, migration, numbers, services
from onlooker_client.command.shared import run_command
from onlooker_client.version import VERSION

COMMANDS = {"check": check, "services": services, "metrics": numbers, "migrate-config": migration}
"""Each has SUMMARY, `add_options` and `run`."""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="onlooker-client", description="Asks an Onlooker server: credentials, services, numbers."
    )
    parser.add_argument("--version", action="version", version=f"onlooker-client {VERSION}")
    chosen = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        part = chosen.add_parser(name, help=command.SUMMARY, description=command.SUMMARY)
        command.add_options(part)
        part.set_defaults(run=command.run)
    return parser


def main() -> None:
    run_command(build_parser())
