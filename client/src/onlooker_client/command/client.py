"""`onlooker-client`: the SDK from a terminal."""

from __future__ import annotations

import argparse

from onlooker_client.command import check, metrics, migration, services
from onlooker_client.command.manage import command as manage
from onlooker_client.command.program import build_program, run_command

DESCRIPTION = "Asks an Onlooker server: credentials, services, numbers; and manages an organisation."


def build_parser() -> argparse.ArgumentParser:
    commands = {
        "check": check,
        "services": services,
        "metrics": metrics,
        "manage": manage,
        "migrate-config": migration,
    }
    return build_program("onlooker-client", DESCRIPTION, commands)


def main() -> None:
    run_command(build_parser())
