"""`onlooker-agent setup`: asks for server, Login, Password and camera, and keeps them."""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from onlooker_client.command import exits
from onlooker_client.command.shared import add_server_options
from onlooker_client.config import Config, config_path, from_environment
from onlooker_client.errors import ConfigError
from onlooker_client.terminal import Terminal

SUMMARY = "Ask for server, Login, Password and camera, test them, and keep them."
SECRET_LIMIT = 1000
STOPPED = 130


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", help="camera, address of one, video or folder (or ONLOOKER_SOURCE)")
    parser.add_argument("--username", metavar="E-MAIL", help="of your account; only numbers need it (analyse, metrics)")
    parser.add_argument("--yes", action="store_true", help="no questions: fail where something is missing or wrong")
    parser.add_argument(
        "--access-token-stdin", action="store_true", help="with --yes: read the Password from standard input"
    )
    add_server_options(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.access_token_stdin and not arguments.yes:
        raise ConfigError("--access-token-stdin goes with --yes: questions need the keyboard.")
    if not arguments.yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("setup asks questions, and here is nobody to answer. Use --yes; onlooker-agent setup --help")
    path = (arguments.config or config_path()).absolute()
    try:
        with tempfile.TemporaryDirectory(prefix="onlooker-setup-") as folder:
            return _set_up(arguments, path, Path(folder))
    except (KeyboardInterrupt, EOFError):
        Terminal.of().say("\nNothing was changed.")
        return STOPPED


def _set_up(arguments: argparse.Namespace, path: Path, folder: Path) -> int:
    from onlooker_client.setup.asking import Asker
    from onlooker_client.setup.conversation import Conversation
    from onlooker_client.setup.keeping import keep_settings, read_kept, with_present_authority
    from onlooker_client.setup.script import check_settings

    terminal = Terminal.of()
    kept, trouble = read_kept(path)
    given = _given(arguments)
    if trouble:
        terminal.warn(trouble)
    if arguments.yes:
        config = check_settings(with_present_authority(given.over(from_environment()).over(kept)))
    else:
        terminal.say("Four questions. Enter takes what is in brackets, Ctrl-C changes nothing.\n")
        known = with_present_authority(from_environment().over(kept))
        config = Conversation(Asker(terminal), known=known, given=given, folder=folder).hold()
    config = replace(config, username=given.username or config.username)
    keep_settings(path, config, folder)
    terminal.good(f"Kept in {path}, for your eyes only.")
    _say_next(terminal, config)
    return exits.OK


def _given(arguments: argparse.Namespace) -> Config:
    """What the command line says; paths as they are from any folder."""
    ca_file = str(Path(arguments.ca_file).expanduser().absolute()) if arguments.ca_file else None
    if ca_file and not Path(ca_file).is_file():
        raise ConfigError(f"{ca_file} does not exist. The console offers the authority's file at /authority.pem.")
    if arguments.username and "@" not in arguments.username:
        raise ConfigError("--username is the e-mail address of your account in the console.")
    secret = sys.stdin.readline(SECRET_LIMIT).strip() if arguments.access_token_stdin else None
    return Config(
        url=arguments.url,
        client_id=arguments.client_id,
        access_token=secret or None,
        ca_file=ca_file,
        username=arguments.username,
        source=arguments.source,
    )


def _say_next(terminal: Terminal, config: Config) -> None:
    terminal.say("\nNext:")
    steps = {"onlooker-agent doctor": "checks everything", "onlooker-agent run": "begins; Ctrl-C ends it"}
    for command, purpose in steps.items():
        terminal.say(f"  {terminal.paint(f'{command:<24}', 'bold')}{terminal.paint(purpose, 'grey')}")
    terminal.say("\nTo start it with the machine, a unit for systemd:")
    terminal.say(f"  {Path(__file__).parents[1] / 'agent' / 'onlooker-agent.service'}")
    if not config.username:
        terminal.say("For numbers, name your account: onlooker-agent setup --username E-MAIL")
