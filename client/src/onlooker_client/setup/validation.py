"""Tests the answers: server address, Login and Password, camera."""

from __future__ import annotations

import ssl
import time
import uuid
from dataclasses import replace
from pathlib import Path

from onlooker_client.config import Config
from onlooker_client.doctor.camera import check_camera, check_focus, check_frame_rate, check_light, check_noise
from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.findings import Finding, Severity, good, named
from onlooker_client.doctor.server import check_credentials, check_quota, check_stream
from onlooker_client.errors import ConfigError, LinkError, NotTrusted, SourceError
from onlooker_client.sources.cameras import list_cameras
from onlooker_client.sources.kinds import SourceKind, recognise
from onlooker_client.wire.address import Address
from onlooker_client.wire.answers import read_json
from onlooker_client.wire.connection import Answer
from onlooker_client.wire.transport import Transport

TIMEOUT_S = 10.0
USUAL_PORT = 8443
"""On which `onlooker up` listens when nobody says otherwise."""
_UNKNOWN_AUTHORITY = (18, 19, 20, 21)
"""OpenSSL's codes for certificates that somebody unknown has signed."""
_OPTIONS = {
    "url": "--url",
    "client_id": "--client-id",
    "access_token": "ONLOOKER_ACCESS_TOKEN or --access-token-stdin",
    "source": "--source",
}


class UnknownAuthority(ConfigError):
    """The server's certificate is signed by an authority that this machine does not know."""

    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__(
            f"The certificate of {url} is signed by an authority that this machine does not know. Save authority.pem "
            "from the console, and name it with --ca."
        )


def find_server(text: str, ca_file: str | None) -> str:
    """The address of the server that a person means."""
    failure: LinkError | None = None
    for url in candidates(text):
        try:
            check_gateway(url, ca_file)
            return url
        except NotTrusted as error:
            raise _unknown_authority(url, error) or error from None
        except LinkError as error:
            failure = failure or error
    raise failure or ConfigError("Give the address of the server, such as https://vision.example.org")


def candidates(text: str) -> list[str]:
    """What may be meant: people leave out https:// and the port."""
    text = text.strip().rstrip("/")
    if not text:
        return []
    address = Address.of_server(text if "://" in text else f"https://{text}")
    if "://" in text or address.port != 443:
        return [str(address)]
    return [str(address), f"https://{address.bracketed}:{USUAL_PORT}"]


def check_gateway(url: str, ca_file: str | None) -> None:
    """Ask without credentials: a gateway wants them, and says so in its way."""
    transport = Transport(url, ca_file=ca_file)
    connection = transport.open_connection()
    try:
        answer = connection.exchange("GET", "/services", transport.headers(None), timeout_s=TIMEOUT_S)
    finally:
        connection.close()
    if not _is_gateway(answer):
        raise ConfigError(
            f"{url} answers, but is not an Onlooker gateway. Its address is on the stream's page in the console."
        )


def _is_gateway(answer: Answer) -> bool:
    if answer.status == 401:
        return answer.headers.get("www-authenticate", "").lower().startswith("basic")
    try:
        return answer.status == 200 and "services" in read_json(answer)
    except LinkError:
        return False


def _unknown_authority(url: str, error: NotTrusted) -> UnknownAuthority | None:
    cause = error.__context__
    is_unknown = isinstance(cause, ssl.SSLCertVerificationError) and cause.verify_code in _UNKNOWN_AUTHORITY
    return UnknownAuthority(url) if is_unknown else None


def checked_login(text: str) -> str:
    """As the server knows it."""
    try:
        return str(uuid.UUID(text.strip()))
    except ValueError:
        raise ConfigError(
            "That is not a Login. A Login looks like 0b6f2a3e-8c1d-4f7a-9e25-d4c1a7b85e60 and is on the stream's page "
            "in the console."
        ) from None


def try_credentials(config: Config) -> list[Finding]:
    """What the server says of the stream and its month; raises where it does not know the two."""
    examination = Examination(config, clock=time.time)
    try:
        taken = check_credentials(examination)
        if taken.level is Severity.BAD:
            raise ConfigError(
                f"{taken.figure}. The Login is on the stream's page in the console. A lost Password can be replaced "
                "there."
            )
        return [named("Login and Password", taken), check_stream(examination), named("Quota", check_quota(examination))]
    finally:
        examination.close()


def absolute_source(text: str) -> str:
    """The same from whatever folder the agent is started in."""
    text = text.strip()
    if text and recognise(text) in (SourceKind.VIDEO, SourceKind.FOLDER):
        return str(Path(text).expanduser().absolute())
    return text


def list_choices() -> list[str]:
    """A line for each camera of this machine."""
    refused = "  (no permission: run sudo usermod -aG video $USER, then log in again)"
    return [f"{camera.number}  {camera.name}{'' if camera.is_allowed else refused}" for camera in list_cameras()]


def try_camera(source: str) -> list[Finding]:
    """What is to be said of its pictures, what is good in one line; raises where it gives none."""
    if source == "-":
        raise SourceError("Standard input can't be set as the camera. Pipe it into: onlooker-agent run -")
    examination = Examination(Config(source=source), clock=time.time)
    try:
        opened = check_camera(examination)
        if opened.level is Severity.BAD:
            raise SourceError(f"{opened.figure}. {opened.remedy}")
        return _together(examination, opened)
    finally:
        examination.close()


def _together(examination: Examination, opened: Finding) -> list[Finding]:
    checks = (check_frame_rate, check_light, check_focus, check_noise)
    rate, light, focus, noise = (check(examination) for check in checks)
    well = [opened.figure, rate.figure, "light fine", "focus fine", "noise fine"]
    findings = (opened, rate, light, focus, noise)
    kept = [words for words, finding in zip(well, findings) if finding.level is Severity.GOOD]
    others = [named("Frame rate", rate), named("Light", light), named("Focus", focus), named("Noise", noise)]
    return [good(", ".join(kept)), *(finding for finding in others if finding.level in (Severity.WARN, Severity.BAD))]


def check_settings(config: Config) -> Config:
    """The same, tested; raises at the first that is missing or does not work."""
    missing = [option for name, option in _OPTIONS.items() if not getattr(config, name)]
    if missing:
        raise ConfigError(f"With --yes, everything must be given. Missing: {', '.join(missing)}.")
    source = absolute_source(config.source or "")
    config = replace(config, client_id=checked_login(config.client_id or ""), source=source)
    config = replace(config, url=find_server(config.url or "", config.ca_file))
    try_credentials(config)
    try_camera(source)
    return config
