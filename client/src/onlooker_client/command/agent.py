"""`onlooker-agent`: what runs on a device."""

from __future__ import annotations

import argparse

from onlooker_client.agent import command as run
from onlooker_client.bulk import command as analyse
from onlooker_client.command.shared import run_command
from onlooker_client.doctor import command as doctor
from onlooker_client.setup import command as setup
from onlooker_client.version import VERSION

COMMANDS = {"setup": setup, "run": run, "doctor": doctor, "analyse": analyse}
"""Each has SUMMARY, `add_options` and `run`."""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="onlooker-agent", description="Sends a camera's frames to an Onlooker server."
    )
    parser.add_argument("--version", action="version", version=f"onlooker-agent {VERSION}")
    chosen = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        part = chosen.add_parser(name, help=command.SUMMARY, description=command.SUMMARY)
        command.add_options(part)
        part.set_defaults(run=command.run)
    return parser


def main() -> None:
    run_command(build_parser())
