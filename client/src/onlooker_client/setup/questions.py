"""The four questions in their order, and how a server's unknown certificate authority becomes trusted."""

from __future__ import annotations

import hashlib
import re
import ssl
from dataclasses import replace
from pathlib import Path

from onlooker_client.config import Config
from onlooker_client.doctor.findings import Finding, Severity
from onlooker_client.errors import ConfigError, NotTrusted, SourceError
from onlooker_client.setup.prompt import Prompt
from onlooker_client.setup.validation import (
    TIMEOUT_S,
    USUAL_PORT,
    UnknownAuthority,
    absolute_source,
    candidates,
    check_gateway,
    checked_login,
    find_server,
    list_choices,
    try_camera,
    try_credentials,
)
from onlooker_client.sources.kinds import describe
from onlooker_client.wire.address import Address
from onlooker_client.wire.connection import Connection
from onlooker_client.wire.sockets import find_proxy

SIZE_LIMIT_BYTES = 64 * 1024
CERTIFICATES_LIMIT = 10
ON_THE_SERVER = "openssl x509 -noout -fingerprint -sha256 -in ~/.local/share/onlooker/tls/ca.pem"
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")


class SetupQuestions:
    """Knows what was set before, and what the command line says already: that is not asked, unless it does not work."""

    def __init__(self, prompt: Prompt, *, known: Config, given: Config, folder: Path) -> None:
        self._prompt = prompt
        self._known = known
        self._given = given
        self._folder = folder
        """For what is fetched; it goes when setup ends."""
        self._refused_login = ""
        self._refused_source = ""

    def ask_all(self) -> Config:
        """All four; whatever else was set stays, where it still fits."""
        ask = self._prompt.until_it_works
        config = ask(self._ask_server)
        config = ask(lambda: self._ask_credentials(config))
        return replace(config, source=ask(self._ask_source))

    def _ask_server(self) -> Config:
        given, self._given = self._given.url, replace(self._given, url=None)
        text = self._answer("1. Server address", given, self._known.url)
        ca_file = self._given.ca_file or (self._known.ca_file if self._is_known(text) else None)
        try:
            url = find_server(text, ca_file)
        except UnknownAuthority as error:
            ca_file = ask_authority(self._prompt, error.url, self._folder)
            url = find_server(error.url, ca_file)
        self._prompt.terminal.good(f"{url} answers.")
        self._known = Config(url=url, ca_file=ca_file).over(self._known)
        return self._known

    def _is_known(self, text: str) -> bool:
        """Whether this is the server that was set before: another one has another authority."""
        return self._known.url is None or self._known.url.rstrip("/") in candidates(text)

    def _ask_credentials(self, config: Config) -> Config:
        """Where the two are refused, the Password alone is asked for again; Enter leads back to the Login."""
        secret, login = "", self._refused_login
        if login:
            secret = self._prompt.secret("3. Password", empty="changes the Login")
        if not secret:
            known, login = login, self._prompt.until_it_works(self._ask_login)
            kept = "" if login == known else Config(client_id=login).over(config).access_token or ""
            secret = self._prompt.secret("3. Password", kept)
        config = replace(Config(client_id=login).over(config), access_token=secret)
        self._known, self._refused_login = replace(config, access_token=None), login
        self._say(try_credentials(config))
        return config

    def _ask_login(self) -> str:
        given, self._given = self._given.client_id, replace(self._given, client_id=None)
        return checked_login(self._answer("2. Login", given, self._known.client_id))

    def _ask_source(self) -> str:
        given, self._given = self._given.source, replace(self._given, source=None)
        choices = list_choices()
        if not given:
            self._prompt.terminal.say("4. Camera")
            for choice in choices:
                self._prompt.terminal.say(f"     {choice}")
            self._prompt.explain("A number, an address (rtsp://..., http://...), or the path of a video or folder.")
        default = self._known.source or (choices[0].split()[0] if choices else "")
        source = absolute_source(given or self._prompt.line("   Which one", default, hint=describe(default)))
        if not source:
            raise SourceError("Enter a camera, or the path of a video.")
        if source != self._refused_source:
            self._try_source(source)
        return source

    def _try_source(self, source: str) -> None:
        self._prompt.terminal.replace_line(self._prompt.terminal.paint("    watching it ...", "grey"))
        try:
            findings = try_camera(source)
        except SourceError as error:
            self._refused_source = source
            raise SourceError(f"{error} (Enter the same answer again to keep it anyway.)") from None
        finally:
            self._prompt.terminal.replace_line("")
        self._say(findings)

    def _answer(self, question: str, given: str | None, default: str | None) -> str:
        if given:
            self._prompt.terminal.say(f"{question}: {given}")
            return given
        return self._prompt.line(question, default or "")

    def _say(self, findings: list[Finding]) -> None:
        """What is good in one line, what is not in a line each."""
        terminal = self._prompt.terminal
        well = "; ".join(finding.figure for finding in findings if finding.level is Severity.GOOD)
        if well:
            self._prompt.wrapped(terminal.good, f"{well}.")
        for finding in findings:
            if finding.level in (Severity.WARN, Severity.BAD):
                self._prompt.wrapped(terminal.warn, f"{finding.figure}. {finding.remedy}")


def ask_authority(prompt: Prompt, url: str, folder: Path) -> str:
    """Path of a file that makes the server trusted; one that was fetched lies in `folder`."""
    prompt.wrapped(
        prompt.terminal.warn,
        f"The certificate of {url} is signed by an authority that this machine does not know. An Onlooker server "
        "creates its own authority, and its console offers it as authority.pem. Enter the path of that file if you "
        "have saved it, or the console's address to download it.",
    )

    def ask() -> str:
        answer = prompt.line("   File, or address of the console", usual_console(url))
        if Path(answer).expanduser().is_file():
            return _checked(url, str(Path(answer).expanduser().absolute()))
        return _fetch_and_compare(prompt, url, answer, folder)

    return prompt.until_it_works(ask)


def usual_console(url: str) -> str:
    """Where `onlooker up` has the console when nobody says otherwise."""
    address = Address.of(url)
    return f"https://{address.bracketed}:{USUAL_PORT + 1}" if address.port == USUAL_PORT else ""


def fingerprint(certificate: str) -> str:
    """SHA-256, as openssl shows it."""
    digits = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest().upper()
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))


def _fetch_and_compare(prompt: Prompt, url: str, console: str, folder: Path) -> str:
    certificates = fetch_authority(console)
    file = folder / "authority.pem"
    certificate = _signer(url, certificates, file)
    shown = fingerprint(certificate)
    prompt.terminal.say()
    prompt.explain("This authority signed the server's certificate. Its SHA-256 fingerprint:")
    prompt.terminal.say(f"      {prompt.terminal.paint(shown[:47], 'bold')}")
    prompt.terminal.say(f"      {prompt.terminal.paint(shown[48:], 'bold')}")
    prompt.explain("It arrived over a connection that has not been verified. On the server, this shows the right one:")
    prompt.terminal.say(f"      {ON_THE_SERVER}")
    if not prompt.agree("   Are the two the same?"):
        file.unlink()
        raise ConfigError(
            "The authority is not trusted. Copy authority.pem from the server by hand, and enter its path."
        )
    return str(file)


def fetch_authority(console: str) -> list[str]:
    """The certificates that a console hands out. Nothing secret is sent, and nothing is believed yet."""
    if not console:
        raise ConfigError("Enter the path of authority.pem, or the console's address.")
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
        raise ConfigError(f"{address} offers no authority.pem. Is it the console's address, and not the gateway's?")
    return certificates[:CERTIFICATES_LIMIT]


def _signer(url: str, certificates: list[str], file: Path) -> str:
    """The one that makes the server trusted; it alone is kept."""
    for certificate in certificates:
        file.write_text(f"{certificate}\n", encoding="ascii")
        try:
            check_gateway(url, str(file))
            return certificate
        except NotTrusted:
            continue
    file.unlink()
    raise ConfigError(
        f"The authority of that console did not sign the certificate of {url}. Does it belong to another server?"
    )


def _checked(url: str, file: str) -> str:
    check_gateway(url, file)
    return file
