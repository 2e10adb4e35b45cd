"""An OpenID provider on loopback that lies as it is told: for what a real one never does."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

CLIENT_ID = "onlooker"
KEY_NAME = "first"


def make_key() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=2048)


def _number(value: int) -> str:
    return base64.urlsafe_b64encode(value.to_bytes((value.bit_length() + 7) // 8, "big")).rstrip(b"=").decode()


@dataclass
class LyingProvider:
    """Honest until something of it is changed."""

    port: int = 0
    key: RSAPrivateKey = field(default_factory=make_key)
    signs_with: Any = None
    """Another key, or a text; None: its own key."""
    algorithm: str = "RS256"
    key_name: str | None = KEY_NAME
    claims: dict[str, Any] = field(default_factory=dict)
    """Put into the ID token in place of what is right; None leaves a claim out."""
    userinfo: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    """Put into the discovery document."""
    answers: dict[str, Any] = field(default_factory=dict)
    """By path: (status, headers, chunks) in place of the answer; chunks are bytes, or seconds to wait."""
    nonce: str = ""
    """Of the sign-in that is going on; the real one would have got it from the browser."""
    asked: list[str] = field(default_factory=list)
    """Paths, in order."""

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def discovery(self) -> dict[str, Any]:
        honest = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        }
        return honest | self.document

    def keys(self) -> dict[str, Any]:
        numbers = self.key.public_key().public_numbers()
        key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": KEY_NAME}
        return {"keys": [key | {"n": _number(numbers.n), "e": _number(numbers.e)}]}

    def id_token(self) -> str:
        now = int(time.time())
        honest = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": "alice",
            "nonce": self.nonce,
            "iat": now,
            "exp": now + 300,
        }
        claims = {name: value for name, value in (honest | self.claims).items() if value is not None}
        headers = {"kid": self.key_name} if self.key_name else {}
        return jwt.encode(
            claims, self.key if self.signs_with is None else self.signs_with, algorithm=self.algorithm, headers=headers
        )

    def answer(self, path: str) -> Any:
        if path == "/.well-known/openid-configuration":
            return self.discovery()
        if path == "/keys":
            return self.keys()
        if path == "/token":
            return {
                "access_token": "a token",
                "token_type": "Bearer",
                "id_token": self.id_token(),
                "expires_in": "soon",
            }
        if path == "/userinfo":
            return {"sub": "alice"} | self.userinfo
        return None


@contextmanager
def running_lying_provider() -> Iterator[LyingProvider]:
    provider = LyingProvider()

    class Answers(_ProviderHandler):
        lying = provider

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    provider.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _ProviderHandler(BaseHTTPRequestHandler):
    """Serves what the provider says."""

    lying: LyingProvider

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._answer()

    def _answer(self) -> None:
        self.lying.asked.append(self.path)
        if self.path in self.lying.answers:
            status, headers, chunks = self.lying.answers[self.path]
            self._send(status, headers, chunks)
            return
        found = self.lying.answer(self.path)
        body = json.dumps(found).encode()
        self._send(404 if found is None else 200, {"Content-Type": "application/json"}, [body])

    def _send(self, status: int, headers: dict[str, str], chunks: list[Any]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            for chunk in chunks:
                if isinstance(chunk, bytes):
                    self.wfile.write(chunk)
                    self.wfile.flush()
                else:
                    time.sleep(chunk)
        except OSError:
            self.close_connection = True  # the console has had enough

    def log_message(self, *_: object) -> None:
        pass
