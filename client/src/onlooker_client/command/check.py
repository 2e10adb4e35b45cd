"""`onlooker-client check`: whether address, Login and Password are right, and what is left of the month."""

from __future__ import annotations

import argparse
from typing import Any

from onlooker_client.client import Client
from onlooker_client.command import exit_codes
from onlooker_client.command.options import add_server_options, read_config
from onlooker_client.errors import BadRequest
from onlooker_client.moments import in_hours
from onlooker_client.terminal import Terminal

SUMMARY = "Test address, Login and Password, and show the stream's month."
ASKED = {"age": "age", "gender": "gender", "expression": "expression"}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_server_options(parser)


def run(arguments: argparse.Namespace) -> int:
    terminal = Terminal.of()
    with Client(config=read_config(arguments)) as client:
        count = len(client.services())
        terminal.good(f"{client.transport.address} answers, and accepts Login and Password. It has {count} services.")
        try:
            said = client.stream()
        except BadRequest:
            terminal.warn("This server is older than this program and says nothing about the stream itself.")
            return exit_codes.OK
    return show_stream(terminal, said)


def show_stream(terminal: Terminal, said: dict[str, Any]) -> int:
    """What the server says of the stream, in words."""
    month = said.get("month") or {}
    if said.get("state") == "disabled":
        terminal.bad("The stream, or its owner's account, is switched off. Enable it in its settings in the console.")
    elif said.get("state") == "month_used_up":
        terminal.bad(f"The month is used up. It resets on {str(month.get('resets_at'))[:10]}.")
    else:
        terminal.good(f"The stream is ready ({said.get('kind')}).")
    terminal.say()
    for name, value in facts(said).items():
        terminal.say(f"    {terminal.paint(name.ljust(10), 'grey')} {value}")
    return exit_codes.OK if said.get("state") == "ready" else exit_codes.FAULTS_FOUND


def facts(said: dict[str, Any]) -> dict[str, str]:
    month, reads = said.get("month") or {}, said.get("reads") or {}
    quota_s = month.get("quota_s")
    limit = f" of {in_hours(quota_s)}" if quota_s else ", no limit"
    return {
        "Login": str(said.get("client_id")),
        "This month": f"{in_hours(month.get('used_s') or 0)} of video computed{limit}",
        "Kept for": f"{said.get('retention_days')} days",
        "Reads": ", ".join(word for name, word in ASKED.items() if reads.get(name)) or "neither age, gender nor mood",
        "Console": str(said.get("console_url")),
        "Numbers": str(said.get("data_url")),
    }
