"""Errors of sockets, certificates and HTTP, as a person says them, with the remedy."""

from __future__ import annotations

import http.client
import socket
import ssl

from onlooker_client.errors import LinkError, NotSent, NotTrusted
from onlooker_client.wire.address import Address

_NOT_YET_VALID, _EXPIRED, _OTHER_NAME, _OTHER_IP = 9, 10, 62, 64
_TLS_ALERT = "\x15\x03"
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "PACKET_LENGTH_TOO_LONG")
_WORDS: dict[type[Exception], str] = {  # the first that fits
    socket.gaierror: "its name is not known (DNS)",
    socket.timeout: "it does not answer",
    ConnectionRefusedError: "nothing listens there",
    http.client.RemoteDisconnected: "the server closed it without an answer",
    http.client.IncompleteRead: "the answer was cut off",
    http.client.HTTPException: "the answer is not HTTP",
}


def in_words(error: Exception) -> str:
    """An error of the system as a person says it."""
    for kind, words in _WORDS.items():
        if isinstance(error, kind):
            return words
    if isinstance(error, ssl.SSLError):
        return (error.reason or "the encryption failed").lower().replace("_", " ")
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def link_fault(address: Address, error: Exception) -> LinkError:
    """What a connection that was there broke of."""
    if isinstance(error, http.client.BadStatusLine) and str(error.args[0]).startswith(_TLS_ALERT):
        return LinkError(f"{address} speaks HTTPS there. Write https://{address.authority}")
    hint = ""
    if address.scheme == "http" and isinstance(error, (http.client.RemoteDisconnected, ConnectionResetError)):
        hint = " If it speaks HTTPS there, write https://."
    return LinkError(f"The connection to {address} broke: {in_words(error)}.{hint}")


def dial_fault(address: Address, error: Exception) -> NotSent:
    """Why there is no connection."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return NotTrusted(f"The certificate of {address} is not trusted: {_certificate_fault(address, error)}")
    if isinstance(error, ssl.SSLError) and (error.reason or "").upper() in _NO_TLS:
        return NotSent(f"{address} does not speak HTTPS there. Is the port right?")
    hint = " Check the address and the port." if isinstance(error, ConnectionRefusedError) else ""
    return NotSent(f"{address} can't be reached: {in_words(error)}.{hint}")


def _certificate_fault(address: Address, error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in (_OTHER_NAME, _OTHER_IP):
        return f"it is made out to another name than {address.host}. Use the address that the server was set up with."
    if error.verify_code == _EXPIRED:
        return "it has expired. Whoever runs the server must renew it; or the clock of this device is ahead."
    if error.verify_code == _NOT_YET_VALID:
        return "it is not valid yet. Set the clock of this device."
    return (
        f"{error.verify_message}. Give the certificate authority's file (--ca, ONLOOKER_CA_FILE); the console offers "
        "it at /authority.pem."
    )
