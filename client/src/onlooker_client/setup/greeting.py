"""From what a person types to the address of a server, and whether one of ours answers there."""

from __future__ import annotations

import ssl

from onlooker_client.errors import ConfigError, LinkError, NotTrusted
from onlooker_client.wire.address import Address
from onlooker_client.wire.answers import read_json
from onlooker_client.wire.connection import Answer
from onlooker_client.wire.transport import Transport

TIMEOUT_S = 10.0
USUAL_PORT = 8443
"""On which `onlooker up` listens when nobody says otherwise."""
_UNKNOWN_AUTHORITY = (18, 19, 20, 21)
"""OpenSSL's codes for certificates that somebody unknown has signed."""


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
            greet(url, ca_file)
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


def greet(url: str, ca_file: str | None) -> None:
    """Ask without credentials: a gateway wants them, and says so in its way."""
    transport = Transport(url, ca_file=ca_file)
    connection = transport.open_connection()
    try:
        answer = connection.exchange("GET", "/services", transport.headers(None), timeout_s=TIMEOUT_S)
    finally:
        connection.close()
    if not _is_gateway(answer):
        raise ConfigError(
            f"{url} answers, but is not a gateway of Onlooker. Its address is on the stream's page in the console."
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
