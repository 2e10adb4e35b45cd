"""Tokens for the data endpoint: got with the stream's credentials, kept, and renewed before they end."""

from __future__ import annotations

import base64
import json
import re
import threading
import time

from onlooker_client.config import Config
from onlooker_client.errors import BadCredentials, LinkError
from onlooker_client.wire.attachments import json_body
from onlooker_client.wire.transport import Repeat, Transport

PATH = "/api-token-authstream/"
RENEW_BEFORE_S = 60.0
UNKNOWN_LIFE_S = 300.0
"""Of a token that does not say how long it lives."""
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{1,8192}")


class Tokens:
    """The token of one stream, for all threads."""

    def __init__(self, console: Transport, config: Config) -> None:
        self._console = console
        self._credentials = {
            "username": config.username,
            "client_id": config.client_id,
            "access_token": config.access_token,
        }
        self._token = ""
        self._renew_at = 0.0
        self._lock = threading.Lock()

    def get(self) -> str:
        """One that lives for a while yet."""
        with self._lock:
            if time.monotonic() >= self._renew_at:
                self._fetch()
            return self._token

    def renew(self, refused: str) -> str:
        """Another one than this; several threads that are refused at once fetch one for all."""
        with self._lock:
            if self._token == refused:
                self._fetch()
            return self._token

    def close(self) -> None:
        self._console.close()

    def _fetch(self) -> None:
        try:
            answer = self._console.request_json("POST", PATH, json_body(self._credentials), repeat=Repeat.IF_LOST)
        except BadCredentials as refused:
            refused.args = (
                f"No account {self._credentials['username']} may see this stream, or Login or Password is wrong. Check "
                "--username (username).",
            )
            raise
        token = answer.get("token")
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise LinkError(f"{self._console.address} gave no token. Is this the address of an Onlooker console?")
        self._token = token
        self._renew_at = time.monotonic() + max(life_s(token) - RENEW_BEFORE_S, 1.0)


def life_s(token: str) -> float:
    """How long a token lives from when it is given, by its own claims; devices' clocks may be wrong."""
    try:
        claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
        return max(float(claims["exp"]) - float(claims["iat"]), 0.0)
    except (ValueError, KeyError, IndexError, TypeError):
        return UNKNOWN_LIFE_S
