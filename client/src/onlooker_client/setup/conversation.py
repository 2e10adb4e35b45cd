"""The four questions, in their order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from onlooker_client.config import Config
from onlooker_client.doctor.finding import Finding, Level
from onlooker_client.errors import SourceError
from onlooker_client.setup.account import checked_login, try_credentials
from onlooker_client.setup.asking import Asker
from onlooker_client.setup.authority import ask_authority
from onlooker_client.setup.camera import absolute_source, list_choices, try_camera
from onlooker_client.setup.greeting import UnknownAuthority, candidates, find_server
from onlooker_client.sources.naming import describe


class Conversation:
    """Knows what was set before, and what the command line says already: that is not asked, unless it does not work."""

    def __init__(self, asker: Asker, *, known: Config, given: Config, folder: Path) -> None:
        self._asker = asker
        self._known = known
        self._given = given
        self._folder = folder
        """For what is fetched; it goes when setup ends."""
        self._refused_login = ""
        self._refused_source = ""

    def hold(self) -> Config:
        """All four; whatever else was set stays, where it still fits."""
        ask = self._asker.until_it_works
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
            ca_file = ask_authority(self._asker, error.url, self._folder)
            url = find_server(error.url, ca_file)
        self._asker.terminal.good(f"{url} answers.")
        self._known = Config(url=url, ca_file=ca_file).over(self._known)
        return self._known

    def _is_known(self, text: str) -> bool:
        """Whether this is the server that was set before: another one has another authority."""
        return self._known.url is None or self._known.url.rstrip("/") in candidates(text)

    def _ask_credentials(self, config: Config) -> Config:
        """Where the two are refused, the Password alone is asked for again; Enter leads back to the Login."""
        secret, login = "", self._refused_login
        if login:
            secret = self._asker.secret("3. Password", empty="changes the Login")
        if not secret:
            known, login = login, self._asker.until_it_works(self._ask_login)
            kept = "" if login == known else Config(client_id=login).over(config).access_token or ""
            secret = self._asker.secret("3. Password", kept)
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
            self._asker.terminal.say("4. Camera")
            for choice in choices:
                self._asker.terminal.say(f"     {choice}")
            self._asker.explain("A number, an address (rtsp://..., http://...), or the path of a video or folder.")
        default = self._known.source or (choices[0].split()[0] if choices else "")
        source = absolute_source(given or self._asker.line("   Which one", default, hint=describe(default)))
        if not source:
            raise SourceError("Name a camera, or the path of a video.")
        if source != self._refused_source:
            self._try_source(source)
        return source

    def _try_source(self, source: str) -> None:
        self._asker.terminal.replace_line(self._asker.terminal.paint("    looking through it ...", "grey"))
        try:
            findings = try_camera(source)
        except SourceError as error:
            self._refused_source = source
            raise SourceError(f"{error} (The same answer once more keeps it as it is.)") from None
        finally:
            self._asker.terminal.replace_line("")
        self._say(findings)

    def _answer(self, question: str, given: str | None, default: str | None) -> str:
        if given:
            self._asker.terminal.say(f"{question}: {given}")
            return given
        return self._asker.line(question, default or "")

    def _say(self, findings: list[Finding]) -> None:
        """What is good in one line, what is not in a line each."""
        terminal = self._asker.terminal
        well = "; ".join(finding.figure for finding in findings if finding.level is Level.GOOD)
        if well:
            self._asker.wrapped(terminal.good, f"{well}.")
        for finding in findings:
            if finding.level in (Level.WARN, Level.BAD):
                self._asker.wrapped(terminal.warn, f"{finding.figure}. {finding.remedy}")
