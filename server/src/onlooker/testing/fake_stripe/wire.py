"""A request to the FAKE of Stripe, and what it answers."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl


@dataclass(frozen=True)
class Asked:
    """A request to the fake."""

    method: str
    path: str
    body: bytes = b""
    key: str = ""
    """Its idempotency key."""

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


@dataclass(frozen=True)
class Answer:
    """What the fake says."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})

    def json(self) -> Any:
        return json.loads(self.body)
