"""`onlooker-agent`: what runs on a device."""

from __future__ import annotations

import argparse

from onlooker_client.agent import command as run
from onlooker_client.bulk import command as analyse
from onlooker_client.command.program import build_program, run_command
from onlooker_client.doctor import command as doctor
from onlooker_client.enrolment import command as enrol
from onlooker_client.setup import command as setup

DESCRIPTION = "Sends a camera's frames to an Onlooker server."


def build_parser() -> argparse.ArgumentParser:
    commands = {"setup": setup, "enrol": enrol, "run": run, "doctor": doctor, "analyse": analyse}
    return build_program("onlooker-agent", DESCRIPTION, commands)


def main() -> None:
    run_command(build_parser())
