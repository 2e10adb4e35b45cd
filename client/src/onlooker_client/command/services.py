"""`onlooker-client services`: what the server can compute."""

from __future__ import annotations

import argparse
import textwrap

from onlooker_client.client import Client
from onlooker_client.command import exit_codes
from onlooker_client.command.options import add_server_options, read_config
from onlooker_client.terminal import Terminal

SUMMARY = "List the services of the server."


def add_options(parser: argparse.ArgumentParser) -> None:
    add_server_options(parser)


def run(arguments: argparse.Namespace) -> int:
    terminal = Terminal.of()
    with Client(config=read_config(arguments)) as client:
        for name in client.services():
            service = client.service(name)
            said = service.describe()
            away = "" if said.get("live", True) else terminal.paint("  no worker is running for it", "yellow")
            terminal.say(f"{terminal.paint(name, 'bold')} {service.version}{away}")
            for line in textwrap.wrap(service.description, terminal.width - 4):
                terminal.say(f"    {line}")
    return exit_codes.OK
