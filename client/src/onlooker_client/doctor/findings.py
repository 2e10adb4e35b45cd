"""What a check found: its severity, the figure behind it, and what to do about it."""

from __future__ import annotations

import enum
import socket
from dataclasses import dataclass, replace

from onlooker_client.errors import OnlookerError

_REMEDIES: tuple[tuple[type[BaseException], str], ...] = (
    (socket.gaierror, "Check the spelling of the address, and that this machine is online and has a DNS server."),
    (ConnectionRefusedError, "Check the port in the address, and that the server is running."),
    (socket.timeout, "Check the address, and whether a firewall is in between."),
    (
        ConnectionError,
        "Something between here and the server closes the connection: a firewall, a proxy, or the server itself.",
    ),
    (OSError, "Check the network cable or Wi-Fi of this machine."),
)


class Severity(str, enum.Enum):
    """How much it matters; the value is what `--json` says."""

    GOOD = "good"
    WARN = "warn"
    """Works, and could be better."""
    BAD = "bad"
    """To be fixed."""
    UNCHECKED = "unchecked"
    """Could not be looked at, because of something else."""


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    level: Severity
    figure: str
    """What was measured or seen, with its unit."""
    remedy: str = ""
    """What to do; with a good one, a note."""


def named(title: str, finding: Finding) -> Finding:
    """The same for where no title stands beside it."""
    return replace(finding, figure=f"{title}: {finding.figure}")


def good(figure: str, note: str = "") -> Finding:
    return Finding(Severity.GOOD, figure, note)


def warn(figure: str, remedy: str) -> Finding:
    return Finding(Severity.WARN, figure, remedy)


def bad(figure: str, remedy: str) -> Finding:
    return Finding(Severity.BAD, figure, remedy)


def unchecked(reason: str) -> Finding:
    return Finding(Severity.UNCHECKED, f"not checked: {reason}")


def finding_of_error(error: OnlookerError, otherwise: str = "") -> Finding:
    """Messages of this package have the remedy after their first sentence; some leave it to the cause."""
    words, _, remedy = str(error).partition(". ")
    return bad(words.rstrip("."), remedy or _remedy_of(error) or otherwise or "Run: onlooker-agent setup")


def _remedy_of(error: OnlookerError) -> str:
    """By what the system said; it is still there although the message hides it."""
    cause = error.__context__
    return next((remedy for kind, remedy in _REMEDIES if isinstance(cause, kind)), "")
