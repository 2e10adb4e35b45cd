"""What a network camera answers when it is asked as a player would ask."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
import ssl
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from onlooker_client.sources.kinds import describe

TIMEOUT_S = 5.0
HEAD_LIMIT_BYTES = 16 * 1024
_LISTS = re.compile(r"mpegurl|dash\+xml|scpls|xspf|smil", re.IGNORECASE)
_PORTS = {"rtsp": 554, "rtsps": 322, "http": 80, "https": 443}


@dataclass(frozen=True)
class CameraAddress:
    """Where a camera is asked."""

    url: SplitResult
    host: str
    port: int


@dataclass(frozen=True)
class CameraAnswer:
    """Status of an answer, what it asks for, where it leads and what it has."""

    status: int
    challenge: str = ""
    location: str = ""
    content_type: str = ""


def address_of(text: str) -> CameraAddress | None:
    """None for what can't be asked: another protocol, or a password that makes the host uncertain."""
    try:
        url = urlsplit(text)
        port = url.port or _PORTS.get(url.scheme)
    except ValueError:
        return None
    # With an @ in the path, a password has a slash in it: what was taken for host and port is a part of it.
    if url.scheme not in _PORTS or not url.hostname or port is None or "@" in url.path:
        return None
    return CameraAddress(url, url.hostname, port)


@dataclass(frozen=True)
class Elsewhere:
    """That an answer leads to other addresses, and what to do."""

    what: str
    remedy: str


def leads_elsewhere(said: CameraAnswer) -> Elsewhere | None:
    """Where an answer is a redirect or a list of addresses, which are never followed."""
    if 300 <= said.status < 400 and said.location:
        where = describe(said.location)
        remedy = f"Redirects are not followed. If that is your camera, use {where} as its address."
        return Elsewhere(f"sends its viewers to another address, {where}", remedy)
    if _LISTS.search(said.content_type):
        remedy = "Lists are not followed. Use the camera's address for RTSP or MJPEG."
        return Elsewhere(f"is a list of other addresses ({said.content_type[:60]})", remedy)
    return None


def ask_camera(address: CameraAddress) -> CameraAnswer:
    """Once without user and password, and where they are wanted once with them; raises OSError or ValueError."""
    url, port = address.url, address.port
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
    return CameraAnswer(
        int(status[1]) if status else 0,
        preferred[0] if preferred else "",
        location=_header(text, "location"),
        content_type=_header(text, "content-type"),
    )


def _header(head: str, name: str) -> str:
    found = re.search(rf"(?im)^{name}: *(.+?) *\r?$", head)
    return found[1] if found else ""


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
