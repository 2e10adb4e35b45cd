"""An error as a finding: what happened, and apart from that what to do."""

from __future__ import annotations

import socket

from onlooker_client.doctor.finding import Finding, bad
from onlooker_client.errors import OnlookerError

_REMEDIES: tuple[tuple[type[BaseException], str], ...] = (
    (socket.gaierror, "Check the spelling of the address, and that this machine is online and has a DNS server."),
    (ConnectionRefusedError, "Check the port in the address, and that the server runs."),
    (socket.timeout, "Check the address, and whether a firewall is in between."),
    (ConnectionError, "Something on the way ends the connection: a firewall, a proxy, or the server itself."),
    (OSError, "Check the network cable or Wi-Fi of this machine."),
)


def trouble(error: OnlookerError, otherwise: str = "") -> Finding:
    """Messages of this package have the remedy after their first sentence; some leave it to the cause."""
    words, _, remedy = str(error).partition(". ")
    return bad(words.rstrip("."), remedy or _remedy_of(error) or otherwise or "Run: onlooker-agent setup")


def _remedy_of(error: OnlookerError) -> str:
    """By what the system said; it is still there although the message hides it."""
    cause = error.__context__
    return next((remedy for kind, remedy in _REMEDIES if isinstance(cause, kind)), "")
