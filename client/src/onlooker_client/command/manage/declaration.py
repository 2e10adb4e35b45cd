"""How a command of `manage` is declared: things, what can be done with them, and options that several share."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable

from onlooker_client.command.manage.output import Output
from onlooker_client.errors import BadArgument

if TYPE_CHECKING:
    from onlooker_client.manage import Organisation, Selection

AddOptions = Callable[[argparse.ArgumentParser], None]
Act = Callable[["Organisation", argparse.Namespace, Output], None]


def no_options(_: argparse.ArgumentParser) -> None:
    """Of what needs none."""


@dataclass(frozen=True)
class Verb:
    """What can be done with a thing."""

    summary: str
    act: Act
    add_options: AddOptions = no_options


@dataclass(frozen=True)
class Noun:
    """A thing of the organisation. One without verbs is a command by itself."""

    summary: str
    verbs: Mapping[str, Verb] = field(default_factory=dict)
    itself: Verb | None = None


def add_id(parser: argparse.ArgumentParser, what: str = "ID", said: str = "its id, as list shows it") -> None:
    parser.add_argument("id", metavar=what, help=said)


def one_id(what: str = "ID", said: str = "its id, as list shows it") -> AddOptions:
    """Options of a command for one thing."""
    return lambda parser: add_id(parser, what, said)


def add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do it without asking")


def confirm(arguments: argparse.Namespace, question: str) -> None:
    """Raises BadArgument where a person says no, or can't be asked."""
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise BadArgument(f"{question} There is nobody to ask: add --yes.")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise BadArgument("Nothing was changed.")


def add_selection(parser: argparse.ArgumentParser, singular: str) -> None:
    """Which streams or devices a change is for, and whether it is only shown."""
    group = parser.add_argument_group(f"which {singular}s")
    group.add_argument(
        f"--{singular}",
        dest="named",
        metavar="ID",
        action="append",
        default=[],
        help="this one; repeat it for more",
    )
    group.add_argument("--site", metavar="ID", type=int, help="those of a site")
    group.add_argument("--tag", metavar="NAME", help="those with a tag")
    group.add_argument("--all", action="store_true", help="all of the organisation")
    parser.add_argument("--apply", action="store_true", help="make the change; without it, it is only shown")


def read_selection(arguments: argparse.Namespace) -> Selection:
    from onlooker_client.manage import Selection

    return Selection(arguments.named, arguments.site, arguments.tag, arguments.all)


def add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "settings",
        metavar="NAME=VALUE",
        nargs="+",
        help="such as fps=5 or log_level=debug; NAME= takes the setting away",
    )


def read_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Numbers and true or false as JSON has them, anything else as text; nothing: None."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign or not name.strip():
            raise BadArgument(f"{pair} is no setting. Write NAME=VALUE, such as fps=5.")
        settings[name.strip()] = _read_value(text.strip())
    return settings


def _read_value(text: str) -> Any:
    if not text:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (bool, int, float)) else text


def said_options(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Options that were given, for a change of one thing."""
    found = {name: getattr(arguments, name) for name in names}
    said = {name: value for name, value in found.items() if value is not None}
    if not said:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in names)
        raise BadArgument(f"Nothing to change. Give one of {options}.")
    return said


def flag(text: str) -> bool:
    """A type of argparse: yes or no."""
    if text.lower() not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither yes nor no")
    return text.lower() == "yes"


def words(text: str) -> list[str]:
    """A type of argparse: names with commas between them; nothing: none."""
    return [word.strip() for word in text.split(",") if word.strip()]


def add_removal(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    add_yes(parser)
