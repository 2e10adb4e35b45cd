"""Options that several commands have, and how a failure becomes an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path
from typing import Callable

from onlooker_client.command import exits
from onlooker_client.config import Config, load_config, of_another_login
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

Command = Callable[[argparse.Namespace], int]


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Where the server is and who asks. The Password has no option: others can read a command line."""
    group = parser.add_argument_group("server")
    group.add_argument("--config", metavar="FILE", type=Path, help="the file that setup wrote (or ONLOOKER_CONFIG)")
    group.add_argument("--url", help="the server's address, such as https://vision.example.org (or ONLOOKER_URL)")
    group.add_argument("--client-id", metavar="LOGIN", help="the stream's Login (or ONLOOKER_CLIENT_ID)")
    group.add_argument(
        "--ca", metavar="FILE", dest="ca_file", help="certificate authority to trust (or ONLOOKER_CA_FILE)"
    )


def read_config(arguments: argparse.Namespace) -> Config:
    """From the options, the environment and the file."""
    names = ("url", "client_id", "ca_file", "username", "source")
    given = Config(**{name: getattr(arguments, name, None) for name in names})
    return load_config(given, arguments.config)


def how_to_set(error: NotSet, arguments: argparse.Namespace) -> str:
    """In the words of a command line: a message of the SDK names the arguments of a call."""
    words = {"url": "the server's address", "client_id": "the Login", "access_token": "the Password"}
    ways = {"url": "--url or ONLOOKER_URL", "client_id": "--client-id or ONLOOKER_CLIENT_ID"}
    others = "ONLOOKER_ACCESS_TOKEN or ONLOOKER_ACCESS_TOKEN_FILE"
    missing = ", ".join(words[name] for name in error.missing)
    given = ", ".join(ways.get(name, others) for name in error.missing)
    other = of_another_login(
        Config(client_id=getattr(arguments, "client_id", None)), getattr(arguments, "config", None)
    )
    if other:
        return f"Not set: {missing}.{other} Set ONLOOKER_CLIENT_ID with its ONLOOKER_ACCESS_TOKEN, without --client-id."
    return f"Not set: {missing}. Run: onlooker-agent setup; or give {given}."


def exit_code(error: OnlookerError) -> int:
    if isinstance(error, (ConfigError, BadCredentials, NotAllowed)):
        return exits.CONFIG
    if isinstance(error, SourceError):
        return exits.NO_INPUT
    if isinstance(error, (LinkError, NotNow)):
        return exits.UNAVAILABLE
    if isinstance(error, (BadArgument, BadRequest)):
        return exits.USAGE
    return exits.BROKEN


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
        sys.exit(exits.CONFIG)
    except OnlookerError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # such as `| head`; what is left in the buffer has nowhere to go either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
