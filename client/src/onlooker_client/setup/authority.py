"""An authority that this machine does not know yet: a person names its file, or compares its fingerprint once."""

from __future__ import annotations

import hashlib
import re
import ssl
from pathlib import Path

from onlooker_client.errors import ConfigError, NotTrusted
from onlooker_client.setup.asking import Asker
from onlooker_client.setup.greeting import TIMEOUT_S, USUAL_PORT, greet
from onlooker_client.wire.address import Address
from onlooker_client.wire.connection import Connection
from onlooker_client.wire.dialling import find_proxy

SIZE_LIMIT_BYTES = 64 * 1024
CERTIFICATES_LIMIT = 10
ON_THE_SERVER = "openssl x509 -noout -fingerprint -sha256 -in ~/.local/share/onlooker/tls/ca.pem"
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")


def ask_authority(asker: Asker, url: str, folder: Path) -> str:
    """Path of a file that makes the server trusted; one that was fetched lies in `folder`."""
    asker.wrapped(
        asker.terminal.warn,
        f"The certificate of {url} is signed by an authority that this machine does not know. An Onlooker server makes "
        "one of its own, and its console hands it out as authority.pem. Name that file if you have saved it, or the "
        "console's address, to fetch it from there.",
    )

    def ask() -> str:
        answer = asker.line("   File, or address of the console", usual_console(url))
        if Path(answer).expanduser().is_file():
            return _checked(url, str(Path(answer).expanduser().absolute()))
        return _fetch_and_compare(asker, url, answer, folder)

    return asker.until_it_works(ask)


def usual_console(url: str) -> str:
    """Where `onlooker up` has the console when nobody says otherwise."""
    address = Address.of(url)
    return f"https://{address.bracketed}:{USUAL_PORT + 1}" if address.port == USUAL_PORT else ""


def fingerprint(certificate: str) -> str:
    """SHA-256, as openssl shows it."""
    digits = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest().upper()
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))


def _fetch_and_compare(asker: Asker, url: str, console: str, folder: Path) -> str:
    certificates = fetch_authority(console)
    file = folder / "authority.pem"
    certificate = _signer(url, certificates, file)
    shown = fingerprint(certificate)
    asker.terminal.say()
    asker.explain("This one has signed the server's certificate. Its SHA-256 fingerprint:")
    asker.terminal.say(f"      {asker.terminal.paint(shown[:47], 'bold')}")
    asker.terminal.say(f"      {asker.terminal.paint(shown[48:], 'bold')}")
    asker.explain("It came over a connection that nobody has checked. On the server, this shows the right one:")
    asker.terminal.say(f"      {ON_THE_SERVER}")
    if not asker.agree("   Are the two the same?"):
        file.unlink()
        raise ConfigError("Then it is not trusted. Copy authority.pem from the server by hand, and name the file.")
    return str(file)


def fetch_authority(console: str) -> list[str]:
    """The certificates that a console hands out. Nothing secret is sent, and nothing is believed yet."""
    if not console:
        raise ConfigError("Name the file authority.pem, or the console's address.")
    address = Address.of(console if "://" in console else f"https://{console}")
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname = False
    anybody.verify_mode = ssl.CERT_NONE
    connection = Connection(address, anybody, proxy=find_proxy(address))
    try:
        answer = connection.exchange("GET", "/authority.pem", b"Accept: */*\r\n", timeout_s=TIMEOUT_S)
    finally:
        connection.close()
    certificates = _CERTIFICATE.findall(answer.body[:SIZE_LIMIT_BYTES].decode("ascii", "replace"))
    if answer.status != 200 or not certificates:
        raise ConfigError(f"{address} hands out no authority.pem. Is it the console's address, and not the gateway's?")
    return certificates[:CERTIFICATES_LIMIT]


def _signer(url: str, certificates: list[str], file: Path) -> str:
    """The one that makes the server trusted; it alone is kept."""
    for certificate in certificates:
        file.write_text(f"{certificate}\n", encoding="ascii")
        try:
            greet(url, str(file))
            return certificate
        except NotTrusted:
            continue
    file.unlink()
    raise ConfigError(f"The authority of that console did not sign the certificate of {url}. Is it another server's?")


def _checked(url: str, file: str) -> str:
    greet(url, file)
    return file
