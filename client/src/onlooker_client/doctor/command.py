"""`onlooker-agent doctor`: looks for what is wrong."""

from __future__ import annotations

import argparse

from onlooker_client.command import exits
from onlooker_client.command.shared import add_server_options, read_config
from onlooker_client.terminal import Terminal

SUMMARY = "Check camera, light, network and account, and say what to fix."


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", nargs="?", metavar="SOURCE", help="camera, address, video or folder; else the one set"
    )
    parser.add_argument("--json", action="store_true", help="one object instead of lines")
    add_server_options(parser)


def run(arguments: argparse.Namespace) -> int:
    import time

    from onlooker_client.doctor import report
    from onlooker_client.doctor.checks import Check, run_checks
    from onlooker_client.doctor.examination import Examination

    examination = Examination(read_config(arguments), clock=time.time)
    terminal = Terminal.of()
    is_shown = not arguments.json
    found = []

    def announce(check: Check) -> None:
        if is_shown:
            report.announce(terminal, check)

    try:
        for check, finding in run_checks(examination, announce):
            found.append((check, finding))
            if is_shown:
                report.show(terminal, check, finding)
    finally:
        examination.close()
    terminal.say(report.as_json(found) if arguments.json else f"\n{report.summary(found)}")
    return exits.FAULTS_FOUND if report.has_faults(found) else exits.OK
