"""Questions at a terminal; each answer is tried at once, and asked for again if it does not work."""

from __future__ import annotations

import getpass
import textwrap
from typing import Callable, TypeVar

from onlooker_client.doctor.findings import finding_of_error
from onlooker_client.errors import ConfigError, OnlookerError
from onlooker_client.terminal import Terminal

TRIES = 5
INDENT = "    "
Result = TypeVar("Result")


class TooManyAttempts(ConfigError):
    """Too many answers to one question did not work."""


class Prompt:
    """Asks, and says what came of it."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def line(self, question: str, default: str = "", *, hint: str = "") -> str:
        """One answer; the default where it is empty. `hint` stands in brackets for a default that is not to be seen."""
        shown = hint or default
        prompt = f"{question} [{shown}]: " if shown else f"{question}: "
        return input(prompt).strip() or default

    def secret(self, question: str, default: str = "", *, empty: str = "") -> str:
        """One that is not shown while it is typed; `empty` says what Enter alone does."""
        shown = f"(not shown; Enter alone {empty})" if empty else "(not shown)"
        prompt = f"{question} {shown} [unchanged]: " if default else f"{question} {shown}: "
        return getpass.getpass(prompt).strip() or default

    def agree(self, question: str) -> bool:
        """Whether a person says yes in so many letters; Enter alone is a no."""
        return self.line(question, hint="y/N").lower() in ("y", "yes")

    def until_it_works(self, ask: Callable[[], Result]) -> Result:
        """Ask again where an answer does not work, but only so many times."""
        for _ in range(TRIES):
            try:
                return ask()
            except TooManyAttempts:
                raise
            except OnlookerError as error:
                self.complain(error)
        raise TooManyAttempts(f"{TRIES} answers did not work, so setup stops here. Nothing was changed.")

    def complain(self, error: OnlookerError) -> None:
        """The message; where it leaves the remedy to the cause, that too."""
        finding = finding_of_error(error, "Please try again.")
        self.wrapped(self.terminal.bad, f"{finding.figure}. {finding.remedy}")

    def explain(self, text: str) -> None:
        """Some lines of words below a question."""
        for line in textwrap.wrap(text, self.terminal.width - len(INDENT)):
            self.terminal.say(f"{INDENT}{line}")

    def wrapped(self, say: Callable[[str], None], text: str) -> None:
        """With a sign before the first line."""
        first, *others = textwrap.wrap(text, self.terminal.width - len(INDENT)) or [""]
        say(first)
        for line in others:
            self.terminal.say(f"{INDENT}{line}")
