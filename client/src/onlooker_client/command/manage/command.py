"""`onlooker-client manage`: its parser, and how a command gets the organisation."""

from __future__ import annotations

import argparse
from pathlib import Path

from onlooker_client.command import exit_codes
from onlooker_client.command.manage import access, devices, enrolment, notes, numbers, sites, streams, webhooks
from onlooker_client.command.manage.declaration import Noun, Verb
from onlooker_client.command.manage.output import Output
from onlooker_client.config import Config, load_config
from onlooker_client.terminal import Terminal

SUMMARY = "Manage an organisation with a key: streams, sites, devices, people, numbers."
NOUNS: dict[str, Noun] = {
    "streams": streams.STREAMS,
    "sites": sites.SITES,
    "tags": streams.TAGS,
    "devices": devices.DEVICES,
    "codes": enrolment.CODES,
    "templates": enrolment.TEMPLATES,
    "keys": access.KEYS,
    "members": access.MEMBERS,
    "notes": notes.NOTES,
    "webhooks": webhooks.WEBHOOKS,
    "numbers": numbers.NUMBERS,
    "organisation": access.ORGANISATION,
}


def add_options(parser: argparse.ArgumentParser) -> None:
    shared = _shared_options()
    things = parser.add_subparsers(metavar="THING", required=True)
    for word, noun in NOUNS.items():
        if noun.itself:
            _add_verb(things, word, noun.itself, shared)
            continue
        part = things.add_parser(word, help=noun.summary, description=noun.summary)
        actions = part.add_subparsers(metavar="ACTION", required=True)
        for name, verb in noun.verbs.items():
            _add_verb(actions, name, verb, shared)


def run(arguments: argparse.Namespace) -> int:
    from onlooker_client.manage import Organisation

    given = Config(console_url=arguments.server, ca_file=arguments.ca_file)
    output = Output(Terminal.of(), arguments.json)
    with Organisation(config=load_config(given, arguments.config)) as organisation:
        arguments.act(organisation, arguments, output)
    return exit_codes.OK


def _shared_options() -> argparse.ArgumentParser:
    """The key has no option: others can read a command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    group = parser.add_argument_group("console (the key comes from ONLOOKER_KEY or ONLOOKER_KEY_FILE)")
    group.add_argument("--server", metavar="URL", help="the console's address (or ONLOOKER_CONSOLE_URL)")
    group.add_argument(
        "--ca", metavar="FILE", dest="ca_file", help="certificate authority to trust (or ONLOOKER_CA_FILE)"
    )
    group.add_argument("--config", metavar="FILE", type=Path, help="a settings file (or ONLOOKER_CONFIG)")
    return parser


def _add_verb(
    parsers: argparse._SubParsersAction[argparse.ArgumentParser],
    word: str,
    verb: Verb,
    shared: argparse.ArgumentParser,
) -> None:
    part = parsers.add_parser(word, help=verb.summary, description=verb.summary, parents=[shared])
    verb.add_options(part)
    part.set_defaults(act=verb.act)
