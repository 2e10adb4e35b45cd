"""A program of several commands: its parser, and how a failure becomes a message and an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Mapping
from typing import Protocol

from onlooker_client.command import exit_codes
from onlooker_client.config import Config, of_another_login
from onlooker_client.errors import (
    BadArgument,
    BadCredentials,
    BadRequest,
    ConfigError,
    LinkError,
    NotAllowed,
    NotNow,
    NotSet,
    OnlookerError,
    SourceError,
)
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


def run_command(parser: argparse.ArgumentParser, given: list[str] | None = None) -> None:
    """Read the arguments and do what they say; a failure is one line on standard error, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the terminal can't write must not end anything
            stream.reconfigure(errors="backslashreplace")
    arguments = parser.parse_args(given)
    try:
        sys.exit(arguments.run(arguments))
    except NotSet as error:
        print(f"{parser.prog}: {how_to_set(error, arguments)}", file=sys.stderr)
        sys.exit(exit_codes.CONFIG)
    except OnlookerError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # such as `| head`; what is left in the buffer has nowhere to go either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)


def how_to_set(error: NotSet, arguments: argparse.Namespace) -> str:
    """In the words of a command line: a message of the SDK names the arguments of a call."""
    words = {
        "url": "the server's address",
        "client_id": "the Login",
        "access_token": "the Password",
        "console_url": "the console's address",
        "key": "the key",
    }
    ways = {
        "url": "--url or ONLOOKER_URL",
        "client_id": "--client-id or ONLOOKER_CLIENT_ID",
        "console_url": "--server or ONLOOKER_CONSOLE_URL",
        "key": "ONLOOKER_KEY or ONLOOKER_KEY_FILE",
    }
    others = "ONLOOKER_ACCESS_TOKEN or ONLOOKER_ACCESS_TOKEN_FILE"
    missing = ", ".join(words[name] for name in error.missing)
    given = ", ".join(ways.get(name, others) for name in error.missing)
    if {"console_url", "key"} & set(error.missing):
        return f"Not set: {missing}. Give {given}. Owners and managers create keys in the console."
    other = of_another_login(
        Config(client_id=getattr(arguments, "client_id", None)), getattr(arguments, "config", None)
    )
    if other:
        return f"Not set: {missing}.{other} Set ONLOOKER_CLIENT_ID with its ONLOOKER_ACCESS_TOKEN, without --client-id."
    return f"Not set: {missing}. Run: onlooker-agent setup; or give {given}."


def exit_code(error: OnlookerError) -> int:
    if isinstance(error, (ConfigError, BadCredentials, NotAllowed)):
        return exit_codes.CONFIG
    if isinstance(error, SourceError):
        return exit_codes.NO_INPUT
    if isinstance(error, (LinkError, NotNow)):
        return exit_codes.UNAVAILABLE
    if isinstance(error, (BadArgument, BadRequest)):
        return exit_codes.USAGE
    return exit_codes.BROKEN
