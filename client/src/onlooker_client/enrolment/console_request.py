"""What a device asks the console: to be enrolled, and for its next Password."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlooker_client.errors import BadCredentials, BadRequest, ConfigError, LinkError, NotAllowed, NotSent, NotTrusted
from onlooker_client.version import VERSION
from onlooker_client.wire.address import Address
from onlooker_client.wire.attachments import json_body
from onlooker_client.wire.transport import Repeat, Transport

ENROL_PATH, RENEW_PATH = "/devices/enrol/", "/devices/credential/"
TIMEOUT_S = 40.0
USUAL_CONSOLE_PORT = 8444
"""On which `onlooker up` has the console when nobody says otherwise."""
MODEL_FILE = Path("/proc/device-tree/model")


@dataclass(frozen=True)
class EnrolmentAnswer:
    """What the console gives to a device."""

    stream: str
    """Its name."""
    url: str
    console_url: str
    client_id: str
    access_token: str
    renew_in_s: float
    source: str


def ask_enrolment(server: str, code: str, device_key: str, *, ca_file: str | None) -> EnrolmentAnswer:
    """The same key gets the same answer, however often it asks."""
    said = {"code": code, "device_key": device_key, **describe_machine()}
    failure: LinkError | None = None
    for address in console_addresses(server):
        try:
            return _ask(address, ENROL_PATH, said, ca_file)
        except NotTrusted as error:
            raise ConfigError(
                f"{error} If the server has its own authority, save authority.pem from the console, and name it with "
                "--ca."
            ) from None
        except NotSent as error:  # nobody listens there
            failure = failure or error
    raise failure or ConfigError("Give the console's address, such as https://console.example.org")


def ask_credential(console_url: str, device_key: str, *, ca_file: str | None) -> EnrolmentAnswer:
    return _ask(console_url, RENEW_PATH, {"device_key": device_key, **describe_machine()}, ca_file)


def console_addresses(text: str) -> list[str]:
    """What may be meant: people leave out https:// and the port."""
    text = text.strip().rstrip("/")
    address = Address.of_server(text if "://" in text else f"https://{text}")
    if "://" in text or address.port != 443:
        return [str(address)]
    return [str(address), f"https://{address.bracketed}:{USUAL_CONSOLE_PORT}"]


def describe_machine() -> dict[str, str]:
    """For the list of devices in the console."""
    try:
        model = MODEL_FILE.read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    except OSError:
        model = f"{platform.system()} {platform.machine()}"
    return {"name": platform.node()[:100], "machine": model[:100], "version": VERSION}


def _ask(server: str, path: str, said: dict[str, Any], ca_file: str | None) -> EnrolmentAnswer:
    transport = Transport(server, ca_file=ca_file, timeout_s=TIMEOUT_S)
    try:
        answer = transport.request_json("POST", path, json_body(said), repeat=Repeat.IF_LOST)
    except (BadCredentials, BadRequest) as refused:
        is_gateway = isinstance(refused, BadCredentials) and path == ENROL_PATH  # a console asks for none there
        if is_gateway or refused.status in (404, 405):
            raise ConfigError(
                f"{transport.address} can't enrol devices. Is it the console's address, and not the gateway's?"
            ) from None
        if isinstance(refused, BadCredentials):
            raise ConfigError(refused.detail) from None
        raise
    except NotAllowed as refused:
        raise ConfigError(refused.detail) from None
    finally:
        transport.close()
    return _checked(answer, transport.address)


def _checked(said: dict[str, Any], address: Address) -> EnrolmentAnswer:
    texts = {name: said.get(name) for name in ("stream", "url", "console_url", "client_id", "access_token", "source")}
    renew_in_s = said.get("renew_in_s")
    is_whole = all(isinstance(text, str) for text in texts.values()) and isinstance(renew_in_s, (int, float))
    if not is_whole:
        raise LinkError(f"{address} gave no credential. Is it the address of an Onlooker console?")
    for name in ("url", "console_url"):
        Address.of_server(str(texts[name]))
    return EnrolmentAnswer(renew_in_s=float(renew_in_s or 0), **{name: str(text) for name, text in texts.items()})
