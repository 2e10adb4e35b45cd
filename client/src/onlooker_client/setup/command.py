"""`onlooker-agent setup`: its options, and the file with the settings."""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from onlooker_client.command import exit_codes
from onlooker_client.command.options import add_server_options
from onlooker_client.config import (
    Config,
    config_path,
    from_environment,
    read_file,
    with_renewed_credential,
    write_file,
)
from onlooker_client.errors import ConfigError
from onlooker_client.terminal import Terminal

SUMMARY = "Ask for server, Login, Password and camera, test them, and save them."
SECRET_LIMIT = 1000
STOPPED = 130


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", help="camera, address of one, video or folder (or ONLOOKER_SOURCE)")
    parser.add_argument(
        "--username", metavar="E-MAIL", help="your account, only needed to read numbers (analyse, metrics)"
    )
    parser.add_argument("--yes", action="store_true", help="ask nothing: fail if something is missing or wrong")
    parser.add_argument(
        "--access-token-stdin", action="store_true", help="with --yes: read the Password from standard input"
    )
    add_server_options(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.access_token_stdin and not arguments.yes:
        raise ConfigError("--access-token-stdin needs --yes: without it, setup reads answers from the keyboard.")
    if not arguments.yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError(
            "setup asks questions and needs a terminal. Without one, use --yes; see onlooker-agent setup --help"
        )
    path = (arguments.config or config_path()).absolute()
    try:
        with tempfile.TemporaryDirectory(prefix="onlooker-setup-") as folder:
            return _set_up(arguments, path, Path(folder))
    except (KeyboardInterrupt, EOFError):
        Terminal.of().say("\nNothing was changed.")
        return STOPPED


def _set_up(arguments: argparse.Namespace, path: Path, folder: Path) -> int:
    from onlooker_client.setup.command import keep_settings, read_kept, with_present_authority
    from onlooker_client.setup.prompt import Prompt
    from onlooker_client.setup.questions import SetupQuestions
    from onlooker_client.setup.validation import check_settings

    terminal = Terminal.of()
    kept, trouble = read_kept(path)
    given = _given(arguments)
    if trouble:
        terminal.warn(trouble)
    if arguments.yes:
        config = check_settings(with_present_authority(given.over(from_environment()).over(kept)))
    else:
        terminal.say("Four questions. Enter accepts the value in brackets, Ctrl-C quits without changes.\n")
        known = with_present_authority(from_environment().over(kept))
        config = SetupQuestions(Prompt(terminal), known=known, given=given, folder=folder).ask_all()
    config = replace(config, username=given.username or config.username)
    keep_settings(path, config, folder)
    terminal.good(f"Saved in {path}, readable only by you.")
    _say_next(terminal, config)
    return exit_codes.OK


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
    steps = {"onlooker-agent doctor": "checks everything", "onlooker-agent run": "starts it; Ctrl-C stops it"}
    for command, purpose in steps.items():
        terminal.say(f"  {terminal.paint(f'{command:<24}', 'bold')}{terminal.paint(purpose, 'grey')}")
    terminal.say("\nTo start it at boot, use this systemd unit:")
    terminal.say(f"  {Path(__file__).parents[1] / 'agent' / 'onlooker-agent.service'}")
    if not config.username:
        terminal.say("To read numbers, add your account: onlooker-agent setup --username E-MAIL")


def read_kept(path: Path) -> tuple[Config, str]:
    """What the file says, and what is wrong with it: then it is created again."""
    if not path.exists():
        return Config(), ""
    try:
        return with_renewed_credential(read_file(path)), ""
    except ConfigError as error:
        return Config(), str(error)


def with_present_authority(config: Config) -> Config:
    """One whose file is gone is asked for again; one that is there is found from any folder."""
    file = Path(config.ca_file).expanduser().absolute() if config.ca_file else None
    return replace(config, ca_file=str(file) if file and file.is_file() else None)


def keep_settings(path: Path, config: Config, fetched: Path) -> None:
    """Write the file; an authority that was fetched into `fetched` comes to lie beside it."""
    try:
        if config.ca_file and Path(config.ca_file).parent == fetched:
            config = replace(config, ca_file=keep_authority(path, Path(config.ca_file).read_bytes()))
        write_file(path, config)
    except OSError as error:
        raise ConfigError(
            f"{path} can't be written: {error.strerror}. Name another file with --config, and use it with run, too."
        ) from None


def keep_authority(path: Path, certificates: bytes) -> str:
    """Beside the settings, where a service can read it, too."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = path.with_name("authority.pem").absolute()
    written = kept.with_name(".authority.pem.new")
    written.write_bytes(certificates)
    written.chmod(0o644)  # it is public, and the service runs as another user
    written.replace(kept)
    return str(kept)
