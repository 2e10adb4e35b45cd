"""The management API as a program uses it: a key, pages, repeatable requests."""

import ssl
import time
import uuid
from collections.abc import Iterator
from typing import Any

import httpx2

from testkit import Stack

PREFIX = "/api/v1"
TRIES = 5
LONGEST_WAIT_S = 60.0


class ManagementApi:
    """Refusals raise, with what the server said."""

    def __init__(self, stack: Stack, key: str) -> None:
        trust = ssl.create_default_context(cafile=stack.ca_file)
        headers = {"Authorization": f"Bearer {key}"}
        self._client = httpx2.Client(base_url=stack.console_url, verify=trust, headers=headers, timeout=300)
        self.requests = 0

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return self._ask("GET", path, params=query)

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._ask("POST", path, json=body or {}, headers={"Idempotency-Key": str(uuid.uuid4())})

    def patch(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._ask("PATCH", path, json=body)

    def every(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """The items of all pages."""
        cursor: dict[str, str] = {}
        while True:
            page = self.get(path, limit=200, **query, **cursor)
            yield from page["items"]
            if page["next"] is None:
                return
            cursor = {"cursor": page["next"]}

    def _ask(self, method: str, path: str, **how: Any) -> dict[str, Any]:
        for _ in range(TRIES):
            self.requests += 1
            answer = self._client.request(method, f"{PREFIX}/{path}", **how)
            if answer.status_code != 429:
                break
            time.sleep(min(float(answer.headers.get("Retry-After", "5")), LONGEST_WAIT_S))
        if answer.status_code >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        said: dict[str, Any] = answer.json() if answer.content else {}
        return said
