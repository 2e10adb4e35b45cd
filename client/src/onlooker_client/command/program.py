"""A program of several commands."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Protocol

from onlooker_client.version import VERSION


class Command(Protocol):
    """A module that is one command."""

    SUMMARY: str

    def add_options(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


def build_program(name: str, description: str, commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--version", action="version", version=f"{name} {VERSION}")
    chosen = parser.add_subparsers(metavar="COMMAND", required=True)
    for word, command in commands.items():
        part = chosen.add_parser(word, help=command.SUMMARY, description=command.SUMMARY)
        command.add_options(part)
        part.set_defaults(run=command.run)
    return parser
