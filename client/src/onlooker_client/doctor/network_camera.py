"""Why a network camera does not open: it is asked as a player would ask, and its answer explained."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
import ssl
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from onlooker_client.doctor.findings import Finding, bad
from onlooker_client.sources.kinds import describe

TIMEOUT_S = 5.0
HEAD_LIMIT_BYTES = 16 * 1024
_PORTS = {"rtsp": 554, "rtsps": 322, "http": 80, "https": 443}


@dataclass(frozen=True)
class CameraAnswer:
    """Status of an answer, and what it asks for."""

    status: int
    challenge: str = ""


def explain_failure(text: str) -> Finding | None:
    """A finding where the reason can be told; never with the password in it."""
    try:
        url = urlsplit(text)
        port = url.port or _PORTS.get(url.scheme)
    except ValueError:
        return None
    # With an @ in the path, a password has a slash in it: what was taken for host and port is a part of it.
    if url.scheme not in _PORTS or not url.hostname or port is None or "@" in url.path:
        return None
    try:
        said = _ask(url, port)
    except (OSError, ValueError) as error:
        return _unreached(describe(text), error, host=url.hostname, port=port)
    return _finding(describe(text), said, has_login=url.username is not None)


def _unreached(name: str, error: Exception, *, host: str, port: int) -> Finding | None:
    if isinstance(error, ssl.SSLError):
        return None  # it answers; players do not look at its certificate
    if isinstance(error, socket.gaierror):
        return bad(f"{name}: the host name {host} is unknown", "Check its spelling, or use the camera's IP address.")
    if isinstance(error, ConnectionRefusedError):
        remedy = "Check the port, and that RTSP is switched on in the camera."
        return bad(f"{name}: nothing listens on port {port}", remedy)
    return bad(f"{name} does not answer", "Check its power, its cable, and that it is in the same network.")


def _finding(name: str, said: CameraAnswer, *, has_login: bool) -> Finding | None:
    if said.status in (401, 403):
        if has_login:
            return bad(
                f"{name} rejects the user name and password", "Check both; a camera locks after several wrong attempts."
            )
        return bad(f"{name} requires a user name and password", "Add them to the address: ...//user:password@host/...")
    if said.status == 404:
        return bad(f"{name}: the camera has no such path", "Look up the path of its stream in the camera's manual.")
    return None


def _ask(url: SplitResult, port: int) -> CameraAnswer:
    """Once without user and password, and where they are wanted once with them."""
    said = _exchange(url, port, "")
    if said.status == 401 and url.username is not None:
        return _exchange(url, port, _authorization(url, said.challenge))
    return said


def _exchange(url: SplitResult, port: int, authorization: str) -> CameraAnswer:
    method, target = _request(url)
    version = "RTSP/1.0" if url.scheme.startswith("rtsp") else "HTTP/1.1"
    lines = [f"{method} {target} {version}", f"Host: {url.hostname}", "CSeq: 1", "Connection: close"]
    lines += [f"Authorization: {authorization}"] if authorization else []
    with socket.create_connection((url.hostname or "", port), timeout=TIMEOUT_S) as plain:
        opened = _encrypted(plain, url)
        opened.sendall("\r\n".join([*lines, "", ""]).encode("latin-1", "replace"))
        return _read(opened)


def _request(url: SplitResult) -> tuple[str, str]:
    """Method and target; the latter without user and password."""
    if url.scheme.startswith("rtsp"):
        host = url.netloc.rpartition("@")[2]
        return "DESCRIBE", f"{url.scheme}://{host}{url.path}{'?' + url.query if url.query else ''}"
    return "GET", f"{url.path or '/'}{'?' + url.query if url.query else ''}"


def _encrypted(plain: socket.socket, url: SplitResult) -> socket.socket:
    if url.scheme not in ("rtsps", "https"):
        return plain
    return ssl.create_default_context().wrap_socket(plain, server_hostname=url.hostname)


def _read(opened: socket.socket) -> CameraAnswer:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < HEAD_LIMIT_BYTES:
        piece = opened.recv(4096)
        if not piece:
            break
        head += piece
    text = head.decode("latin-1")
    status = re.match(r"(?:RTSP|HTTP)/[\d.]+ (\d{3})", text)
    challenges = re.findall(r"(?im)^www-authenticate: *(.+?)\r?$", text)
    preferred = sorted(challenges, key=lambda challenge: not challenge.lower().startswith("digest"))
    return CameraAnswer(int(status[1]) if status else 0, preferred[0] if preferred else "")


def _authorization(url: SplitResult, challenge: str) -> str:
    user, password = unquote(url.username or ""), unquote(url.password or "")
    if not challenge.lower().startswith("digest"):
        return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
    method, target = _request(url)
    said = {name.lower(): value for name, value in re.findall(r'(\w+)="([^"]*)"', challenge)}
    realm, nonce = said.get("realm", ""), said.get("nonce", "")
    count = ", qop=auth, nc=00000001, cnonce=6f6e6c6f" if "auth" in said.get("qop", "") else ""
    middle = "00000001:6f6e6c6f:auth:" if count else ""
    proof = _md5(f"{_md5(f'{user}:{realm}:{password}')}:{nonce}:{middle}{_md5(f'{method}:{target}')}")
    return f'Digest username="{user}", realm="{realm}", nonce="{nonce}", uri="{target}", response="{proof}"{count}'


def _md5(text: str) -> str:
    """The digest that cameras ask for."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
