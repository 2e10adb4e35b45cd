"""`onlooker-client migrate-config`: from the historic SDK's settings to ours."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from dataclasses import replace
from pathlib import Path

from onlooker_client.client import Client
from onlooker_client.command import exits
from onlooker_client.config import Config, check_config, config_path, write_file
from onlooker_client.errors import BadCredentials, ConfigError, LinkError
from onlooker_client.historic import historic_path, is_of_the_cloud, read_historic
from onlooker_client.terminal import Terminal
from onlooker_client.wire.address import Address

SUMMARY = "Take over the settings of the historic SDK (~/.angusdk/config.json)."


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="source_file", metavar="FILE", type=Path, help="(~/.angusdk/config.json)")
    parser.add_argument("--to", dest="target_file", metavar="FILE", type=Path, help="(where onlooker-agent looks)")
    parser.add_argument("--url", help="your server's address: the old cloud is gone")
    parser.add_argument("--ca", metavar="FILE", dest="ca_file", help="certificate authority to trust")
    parser.add_argument("--client-id", metavar="LOGIN", help="of a stream of your server; asks for its Password")
    parser.add_argument("--force", action="store_true", help="write over settings that are there")


def run(arguments: argparse.Namespace) -> int:
    terminal = Terminal.of()
    source, target = arguments.source_file or historic_path(), arguments.target_file or config_path()
    if target.exists() and not arguments.force:
        raise ConfigError(f"{target} is there already. To write over it, add --force.")
    config = with_server(read_historic(source), arguments)
    Address.of_server(config.url or "")
    config = check_config(_choose_stream(config, arguments))
    try_out(terminal, config)
    write_file(target, config)
    terminal.good(f"{source} was taken over into {target}. Only you can read it.")
    return exits.OK


def with_server(config: Config, arguments: argparse.Namespace) -> Config:
    """The settings with the server that was named; the old cloud's certificate authority is of no use to it."""
    if arguments.url and is_of_the_cloud(arguments.url):
        raise ConfigError(f"{arguments.url} is gone. Give --url with the address of your own server.")
    ca_file = os.path.abspath(arguments.ca_file) if arguments.ca_file else None  # noqa: PTH100 (keeps links)
    config = Config(url=arguments.url, ca_file=ca_file).over(config)
    if not config.url:
        raise ConfigError("The old cloud is gone. Give --url with the address of your own server.")
    return config


def try_out(terminal: Terminal, config: Config) -> None:
    """Before anything is written: settings that do not work help nobody."""
    try:
        with Client(config=config) as client:
            client.services()
    except BadCredentials:
        raise ConfigError(
            f"{config.url} does not know this Login and Password. Nothing was written. Give --client-id with the Login "
            "of a stream of this server; it is on the stream's page in the console."
        ) from None
    except LinkError as error:
        raise type(error)(f"{error} Nothing was written.") from None
    terminal.good(f"{config.url} knows Login and Password.")


def _choose_stream(config: Config, arguments: argparse.Namespace) -> Config:
    if config.client_id and arguments.client_id in (None, config.client_id):
        return config
    if not arguments.client_id:
        raise ConfigError(
            "The old settings have Login and Password of the old cloud, which is gone; no other server knows them. "
            "Make a stream in your console, and give its Login: --client-id LOGIN"
        )
    access_token = os.environ.get("ONLOOKER_ACCESS_TOKEN")
    if not access_token and sys.stdin.isatty():
        access_token = getpass.getpass("Password of the stream: ").strip()
    if not access_token:
        raise ConfigError("The Password of that stream is missing. Set ONLOOKER_ACCESS_TOKEN to it.")
    return replace(config, client_id=arguments.client_id, access_token=access_token)
