"""The data endpoint: pages of numbers, requested with a key, or with a token that is renewed automatically."""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from typing import Any, Callable, Protocol
from urllib.parse import parse_qsl, urlencode

from onlooker_client.config import Config
from onlooker_client.errors import BadCredentials, BadRequest, ConfigError, LinkError, NotFound
from onlooker_client.wire.attachments import json_body
from onlooker_client.wire.connection import Answer
from onlooker_client.wire.transport import Repeat, Transport, read_json

ENTITIES_PATH = "/api/1/entities"
PARQUET_PATH = "/api/1/entities.parquet"
DOWNLOAD_LIMIT_S = 600.0
"""For a file of ten years of hours, from a server that has much to do."""
ADDRESSES_PATH = "/api/v1/addresses"
RENEWABLE = ("missing_token", "invalid_jwt", "expired_jwt")
TOKEN_PATH = "/api-token-authstream/"  # noqa: S105 (a path, not a secret)
RENEW_BEFORE_S = 60.0
UNKNOWN_LIFE_S = 300.0
"""Of a token that does not say how long it lives."""
_KEY = re.compile(r"onl_[A-Za-z0-9_-]{43}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{1,8192}")


class DataEndpoint:
    """Finds console and data endpoint through the gateway when they are first needed. Threads may share one."""

    def __init__(self, config: Config, ask_stream: Callable[[], dict[str, Any]], *, timeout_s: float) -> None:
        self._config = config
        self._ask_stream = ask_stream
        self._timeout_s = timeout_s
        self._opened: tuple[Bearer, Transport] | None = None
        self._lock = threading.Lock()

    def ask(self, query: str) -> dict[str, Any]:
        """A page. The token goes to the data endpoint alone, whatever a page says of the next one."""
        return read_json(self._get(ENTITIES_PATH, query, self._timeout_s))

    def download_parquet(self, query: str) -> bytes:
        """The whole range as a file."""
        try:
            return self._get(PARQUET_PATH, query, DOWNLOAD_LIMIT_S).body
        except NotFound as refused:
            if "no stream" in refused.detail:
                raise
            raise ConfigError("This server is from before Parquet. Use rows(), or --csv, or upgrade it.") from None

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened:
            opened[0].close()
            opened[1].close()

    def _get(self, path: str, query: str, timeout_s: float) -> Answer:
        """With a token that is renewed if it is refused."""
        bearer, transport = self._open()
        asked, token = f"{path}?{bearer.complete(query)}", bearer.get()

        def ask(bearing: str) -> Answer:
            authorization = f"Bearer {bearing}"
            return transport.request(
                "GET", asked, repeat=Repeat.IF_LOST, authorization=authorization, timeout_s=timeout_s
            )

        try:
            return ask(token)
        except BadCredentials as refused:
            if refused.code not in RENEWABLE:
                raise
        return ask(bearer.renew(token))

    def _open(self) -> tuple[Bearer, Transport]:
        with self._lock:
            if self._opened is None:
                self._opened = self._open_with_key() if self._config.key else self._open_with_tokens()
            return self._opened

    def _open_with_key(self) -> tuple[Bearer, Transport]:
        if not _KEY.fullmatch(self._config.key or ""):
            raise ConfigError("The key (ONLOOKER_KEY) is not one: a key is onl_ and 43 letters, digits, - or _.")
        data_url = self._config.data_url or self._ask_addresses() or self._ask_gateway().get("data_url")
        if not data_url:
            raise ConfigError(
                "The key does not say where the numbers are. Give data_url=... (ONLOOKER_DATA_URL), the address of the "
                "data endpoint, or console_url=... (ONLOOKER_CONSOLE_URL)."
            )
        return KeyBearer(self._config), self._transport(data_url)

    def _open_with_tokens(self) -> tuple[Bearer, Transport]:
        if not self._config.username:
            raise ConfigError(
                "The data endpoint needs to know who reads the numbers: give username=... (ONLOOKER_USERNAME), "
                "the e-mail address of an account that can see the stream, or key=... (ONLOOKER_KEY), a key of its "
                "organisation."
            )
        console_url, data_url = self._config.console_url, self._config.data_url
        if not console_url or not data_url:
            said = self._ask_gateway()
            console_url, data_url = console_url or said.get("console_url"), data_url or said.get("data_url")
        if not console_url or not data_url:
            raise ConfigError(
                "This server does not say where its numbers are. Give console_url=... and data_url=..., or "
                "ONLOOKER_CONSOLE_URL and ONLOOKER_DATA_URL."
            )
        return Tokens(self._transport(console_url), self._config), self._transport(data_url)

    def _transport(self, url: str) -> Transport:
        return Transport(url, ca_file=self._config.ca_file, timeout_s=self._timeout_s)

    def _ask_gateway(self) -> dict[str, Any]:
        """What it says of the stream; nothing where it is too old, or where a key may not send frames."""
        if self._config.key and not self._config.url:
            return {}
        try:
            return self._ask_stream()
        except BadRequest as refused:
            if refused.status != 404:
                raise
        except BadCredentials:
            if not self._config.key:
                raise
        return {}

    def _ask_addresses(self) -> str | None:
        """Where the data endpoint is, by the console; None where it does not say."""
        if not self._config.console_url:
            return None
        console = self._transport(self._config.console_url)
        try:
            bearing = f"Bearer {self._config.key}"
            said = console.request_json("GET", ADDRESSES_PATH, repeat=Repeat.IF_LOST, authorization=bearing)
        except BadRequest as refused:
            if refused.status != 404:
                raise
            return None
        finally:
            console.close()
        data_url = said.get("data_url")
        return data_url if isinstance(data_url, str) else None


class Bearer(Protocol):
    """What is shown to the data endpoint."""

    def complete(self, query: str) -> str: ...

    def get(self) -> str: ...

    def renew(self, refused: str) -> str: ...

    def close(self) -> None: ...


class KeyBearer:
    """A key of an organisation. It reaches several streams, so each request names one."""

    def __init__(self, config: Config) -> None:
        self._key, self._client_id = config.key or "", config.client_id or ""

    def complete(self, query: str) -> str:
        """With the stream, whatever a page says of the next one."""
        asked = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "stream"]
        return urlencode([*asked, ("stream", self._client_id)])

    def get(self) -> str:
        return self._key

    def renew(self, refused: str) -> str:
        """There is no other."""
        return refused

    def close(self) -> None:
        """Nothing is open."""


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

    def complete(self, query: str) -> str:
        """As it is: a token is for one stream."""
        return query

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
            answer = self._console.request_json("POST", TOKEN_PATH, json_body(self._credentials), repeat=Repeat.IF_LOST)
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
