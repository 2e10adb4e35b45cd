"""The data endpoint: pages of numbers, asked for with a token that is renewed by itself."""

from __future__ import annotations

import threading
from typing import Any, Callable

from onlooker_client.config import Config
from onlooker_client.errors import BadCredentials, BadRequest, ConfigError
from onlooker_client.numbers.tokens import Tokens
from onlooker_client.wire.transport import Repeat, Transport

PATH = "/api/1/entities"
RENEWABLE = ("missing_token", "invalid_jwt", "expired_jwt")


class DataEndpoint:
    """Finds console and data endpoint through the gateway when they are first needed. Threads may share one."""

    def __init__(self, config: Config, ask_stream: Callable[[], dict[str, Any]], *, timeout_s: float) -> None:
        self._config = config
        self._ask_stream = ask_stream
        self._timeout_s = timeout_s
        self._opened: tuple[Tokens, Transport] | None = None
        self._lock = threading.Lock()

    def ask(self, query: str) -> dict[str, Any]:
        """A page. The token goes to the data endpoint alone, whatever a page says of the next one."""
        tokens, transport = self._open()
        token = tokens.get()
        try:
            return self._get(transport, query, token)
        except BadCredentials as refused:
            if refused.code not in RENEWABLE:
                raise
        return self._get(transport, query, tokens.renew(token))

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened:
            opened[0].close()
            opened[1].close()

    def _get(self, transport: Transport, query: str, token: str) -> dict[str, Any]:
        path = f"{PATH}?{query}"
        return transport.request_json("GET", path, repeat=Repeat.IF_LOST, authorization=f"Bearer {token}")

    def _open(self) -> tuple[Tokens, Transport]:
        with self._lock:
            if self._opened is None:
                if not self._config.username:
                    raise ConfigError(
                        "The data endpoint asks who reads the numbers: give username=..., or ONLOOKER_USERNAME, the "
                        "e-mail address of an account that sees the stream."
                    )
                console_url, data_url = self._find()
                how: dict[str, Any] = {"ca_file": self._config.ca_file, "timeout_s": self._timeout_s}
                tokens = Tokens(Transport(console_url, **how), self._config)
                self._opened = tokens, Transport(data_url, **how)
            return self._opened

    def _find(self) -> tuple[str, str]:
        console_url, data_url = self._config.console_url, self._config.data_url
        if console_url and data_url:
            return console_url, data_url
        try:
            said = self._ask_stream()
        except BadRequest as refused:
            if refused.status != 404:
                raise
            said = {}
        console_url, data_url = console_url or said.get("console_url"), data_url or said.get("data_url")
        if not console_url or not data_url:
            raise ConfigError(
                "This server does not say where its numbers are. Give console_url=... and data_url=..., or "
                "ONLOOKER_CONSOLE_URL and ONLOOKER_DATA_URL."
            )
        return console_url, data_url
