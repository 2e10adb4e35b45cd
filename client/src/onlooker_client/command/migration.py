"""`onlooker-client migrate-config`: imports the historic SDK's settings (`~/.angusdk/config.json`)."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from onlooker_client.client import Client
from onlooker_client.command import exit_codes
from onlooker_client.config import LARGEST_FILE_BYTES, Config, check_config, config_path, write_file
from onlooker_client.errors import BadCredentials, ConfigError, LinkError
from onlooker_client.terminal import Terminal
from onlooker_client.wire.address import Address

SUMMARY = "Import the settings of the historic SDK (~/.angusdk/config.json)."
GONE = "angus.ai"
"""The cloud that these settings were made for."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="source_file", metavar="FILE", type=Path, help="(~/.angusdk/config.json)")
    parser.add_argument("--to", dest="target_file", metavar="FILE", type=Path, help="(where onlooker-agent looks)")
    parser.add_argument("--url", help="your server's address: the old cloud is gone")
    parser.add_argument("--ca", metavar="FILE", dest="ca_file", help="certificate authority to trust")
    parser.add_argument("--client-id", metavar="LOGIN", help="of a stream of your server; asks for its Password")
    parser.add_argument("--force", action="store_true", help="overwrite existing settings")


def run(arguments: argparse.Namespace) -> int:
    terminal = Terminal.of()
    source, target = arguments.source_file or historic_path(), arguments.target_file or config_path()
    if target.exists() and not arguments.force:
        raise ConfigError(f"{target} already exists. To overwrite it, add --force.")
    config = with_server(read_historic(source), arguments)
    Address.of_server(config.url or "")
    config = check_config(_choose_stream(config, arguments))
    try_out(terminal, config)
    write_file(target, config)
    terminal.good(f"{source} was imported into {target}. Only you can read it.")
    return exit_codes.OK


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
            f"{config.url} does not recognise this Login and Password. Nothing was written. Give --client-id with the "
            "Login of a stream on this server; it is on the stream's page in the console."
        ) from None
    except LinkError as error:
        raise type(error)(f"{error} Nothing was written.") from None
    terminal.good(f"{config.url} accepts Login and Password.")


def _choose_stream(config: Config, arguments: argparse.Namespace) -> Config:
    if config.client_id and arguments.client_id in (None, config.client_id):
        return config
    if not arguments.client_id:
        raise ConfigError(
            "The old settings have Login and Password of the old cloud, which is gone; no other server knows them. "
            "Create a stream in your console, and give its Login: --client-id LOGIN"
        )
    access_token = os.environ.get("ONLOOKER_ACCESS_TOKEN")
    if not access_token and sys.stdin.isatty():
        access_token = getpass.getpass("Password of the stream: ").strip()
    if not access_token:
        raise ConfigError("The Password of that stream is missing. Set ONLOOKER_ACCESS_TOKEN to it.")
    return replace(config, client_id=arguments.client_id, access_token=access_token)


def historic_path() -> Path:
    return Path.home() / ".angusdk" / "config.json"


def read_historic(path: Path) -> Config:
    """What it says; nothing where its server was the cloud, as nobody else knows those credentials."""
    said = _read(path)
    texts = {name: value for name, value in said.items() if isinstance(value, str) and value}
    if "client_id" not in texts or "access_token" not in texts:
        raise ConfigError(f"{path} has no client_id and access_token. Create new settings with: onlooker-agent setup")
    root = texts.get("default_root", "")
    if is_of_the_cloud(root):
        return Config()
    credentials = Config(client_id=texts["client_id"], access_token=texts["access_token"])
    return Config(url=root.rstrip("/"), ca_file=texts.get("ca_path")).over(credentials) if root else credentials


def is_of_the_cloud(url: str) -> bool:
    """Whether this is an address of the service that is gone."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host == GONE or host.endswith(f".{GONE}")


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            said = json.loads(file.read(LARGEST_FILE_BYTES))
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}. Name the file with --from.") from None
    except (ValueError, RecursionError):  # without the cause, which might show what is in the file
        said = None
    if not isinstance(said, dict):
        raise ConfigError(f"{path} is not what the historic SDK wrote. Create new settings with: onlooker-agent setup")
    return said
