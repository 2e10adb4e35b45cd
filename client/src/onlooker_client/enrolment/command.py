"""`onlooker-agent enrol`: its options, and how a code becomes the settings of this device."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from onlooker_client.command import exit_codes
from onlooker_client.config import Config, config_path, from_environment, read_file, write_file
from onlooker_client.credential_file import RenewedCredential, write_credential
from onlooker_client.enrolment.boot_file import BootFile, find_boot_file, read_boot_file, use_up
from onlooker_client.enrolment.console_request import EnrolmentAnswer, ask_enrolment
from onlooker_client.enrolment.record import EnrolmentRecord, end_record, open_record
from onlooker_client.errors import ConfigError, OnlookerError
from onlooker_client.terminal import Terminal

SUMMARY = "Join a server with a code from its console. Needs no camera yet."
SERVICE_FILE = Path("/etc/systemd/system/onlooker-agent.service")
SERVICE_CONFIG = Path("/etc/onlooker/client.json")
INSTALLED_FROM = "console.txt"
"""In the environment of an agent that a console's script installed: where that console is, and its authority."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", metavar="CODE", help="as the console shows it, such as K7QM-4TRX-9WPH")
    parser.add_argument(
        "--server",
        metavar="URL",
        help="the console's address (default: the one that the agent was installed from; or ONLOOKER_CONSOLE_URL)",
    )
    parser.add_argument("--file", type=Path, metavar="FILE", help="read server and code from a file, and use it up")
    parser.add_argument(
        "--boot", action="store_true", help="the same with onlooker-enrol.txt on the boot partition, if there is one"
    )
    parser.add_argument("--source", help="camera, if not the one that the code's template names")
    parser.add_argument("--ca", metavar="FILE", dest="ca_file", help="certificate authority to trust")
    parser.add_argument("--config", metavar="FILE", type=Path, help="where to save the settings (or ONLOOKER_CONFIG)")


@dataclass(frozen=True)
class EnrolmentOrder:
    """Where to enrol, and with what."""

    server: str
    code: str
    certificates: bytes = b""
    """Of the authority to trust, in PEM; nothing: the system's."""
    file: BootFile | None = None


def run(arguments: argparse.Namespace) -> int:
    terminal = Terminal.of()
    path = (arguments.config or settings_path()).absolute()
    order = read_order(arguments)
    if order is None:
        terminal.say("There is nothing to enrol with: the file is used up, or there is none.")
        return exit_codes.OK
    if path == SERVICE_CONFIG:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)  # the service reads the authority's file there
    record = open_record(path, order.code)
    if not (order.file and record.is_done and _has_key(path, record)):
        answer = _ask(order, record)
        _keep(path, order, record, answer, source=arguments.source)
        terminal.good(f"Enrolled as {answer.stream}. Saved in {path}, readable only by you.")
        _say_next(terminal, path)
        _use_up(terminal, order, answer.stream)
    else:  # the power went before the file was used up
        _use_up(terminal, order, "before")
    return exit_codes.OK


def settings_path() -> Path:
    """Of the service, for root where that is installed; otherwise one's own."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and SERVICE_FILE.exists() and not os.environ.get("ONLOOKER_CONFIG"):
        return SERVICE_CONFIG
    return config_path()


def read_order(arguments: argparse.Namespace) -> EnrolmentOrder | None:
    """From the file, or from the options; None where a file has no code any more."""
    if arguments.code and (arguments.file or arguments.boot):
        raise ConfigError("Give a code, or a file with one, not both.")
    given = arguments.file or (find_boot_file() if arguments.boot else None)
    if arguments.boot and given is None:
        return None
    installed_server, installed_ca = _installed_from()
    ca_file = arguments.ca_file or from_environment().ca_file
    if given is not None:
        file = read_boot_file(given)
        server = arguments.server or file.server or installed_server
        certificates = _read_authority(ca_file) or file.certificates.encode() or _read_authority(installed_ca)
        return EnrolmentOrder(_checked_server(server), file.code, certificates, file) if file.code else None
    if not arguments.code:
        raise ConfigError("Give the code that the console shows: onlooker-agent enrol CODE")
    server = arguments.server or from_environment().console_url or installed_server
    is_installed = server == installed_server
    certificates = _read_authority(ca_file or (installed_ca if is_installed else ""))
    return EnrolmentOrder(_checked_server(server), arguments.code, certificates)


def _installed_from() -> tuple[str, str]:
    """The console whose script installed this agent, and its authority's file; empty where another way was taken."""
    try:
        lines = (Path(sys.prefix) / INSTALLED_FROM).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return "", ""
    server, ca_file, *_ = [*lines, "", ""]
    return server.strip(), ca_file.strip() if Path(ca_file.strip()).is_file() else ""


def _checked_server(server: str) -> str:
    if not server:
        raise ConfigError(
            "Which server? Name its console: onlooker-agent enrol CODE --server https://console.example.org"
        )
    return server


def _read_authority(file: str | None) -> bytes:
    if not file:
        return b""
    try:
        return Path(file).expanduser().read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{file} can't be read: {error.strerror}. The console offers the authority's file at /authority.pem."
        ) from None


def _ask(order: EnrolmentOrder, record: EnrolmentRecord) -> EnrolmentAnswer:
    if not order.certificates:
        return ask_enrolment(order.server, order.code, record.device_key, ca_file=None)
    with tempfile.TemporaryDirectory(prefix="onlooker-enrol-") as folder:
        ca_file = Path(folder) / "authority.pem"
        ca_file.write_bytes(order.certificates)
        return ask_enrolment(order.server, order.code, record.device_key, ca_file=str(ca_file))


def _keep(
    path: Path, order: EnrolmentOrder, record: EnrolmentRecord, answer: EnrolmentAnswer, *, source: str | None
) -> None:
    """Settings first: what was asked for is not asked for again, once they are there."""
    from onlooker_client.setup.command import keep_authority

    kept = _known_settings(path)
    config = Config(
        url=answer.url,
        client_id=answer.client_id,
        access_token=answer.access_token,
        console_url=answer.console_url,
        device_key=record.device_key,
        source=source or answer.source or kept.source,
    )
    try:
        if order.certificates:
            config = replace(config, ca_file=keep_authority(path, order.certificates))
        write_file(path, config)
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror}. Name another file with --config.") from None
    with suppress(OSError):  # the service has a folder of its own, and asks when it starts
        write_credential(record.device_key, RenewedCredential(answer.access_token, time.time() + answer.renew_in_s))
    end_record(record)


def _known_settings(path: Path) -> Config:
    try:
        return read_file(path)
    except OnlookerError:
        return Config()


def _has_key(path: Path, record: EnrolmentRecord) -> bool:
    return _known_settings(path).device_key == record.device_key


def _use_up(terminal: Terminal, order: EnrolmentOrder, stream: str) -> None:
    if order.file is None:
        return
    if use_up(order.file, stream):
        terminal.good(f"The code is removed from {order.file.path}.")
    else:
        terminal.warn(f"{order.file.path} can't be written: delete it, since it still has the code.")


def _say_next(terminal: Terminal, path: Path) -> None:
    if path == SERVICE_CONFIG:
        terminal.say(
            "Start it, now and with the machine: systemctl enable onlooker-agent; systemctl restart onlooker-agent"
        )
    else:
        terminal.say("Start it: onlooker-agent run")
