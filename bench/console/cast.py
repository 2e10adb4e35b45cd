"""Who takes part in the journey, and what they have in common: the product, its mails, a place for pictures."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from onlooker.testing import Stack
from onlooker.testing.mailbox import Mailbox

PASSWORD = "a long password nobody guesses"
NEW_PASSWORD = "another one that nobody guesses"
OWNER, VIEWER, STAFF = "owner@example.org", "viewer@example.org", "staff@example.org"
PORTRAIT = Path(__file__).parents[2] / "docs" / "pictures" / "portrait.jpg"


@dataclass
class Scene:
    """The running product, and what was learnt on the way."""

    stack: Stack
    mailbox: Mailbox
    pictures: Path
    known: dict[str, str] = field(default_factory=dict)

    def client(self, base_url: str, **values: Any) -> httpx2.Client:
        trust = ssl.create_default_context(cafile=self.stack.ca_file)
        return httpx2.Client(base_url=base_url, verify=trust, timeout=60, **values)

    def send_frame(self, access_token: str) -> int:
        """What a device does, with a real picture; the answer's status."""
        meta = '{"image": "attachment://picture", "async": false}'
        parts = {
            "meta": (None, meta, "application/json"),
            "attachment://picture": ("picture.jpg", PORTRAIT.read_bytes(), "image/jpeg"),
        }
        with self.client(self.stack.url, auth=(self.known["login"], access_token)) as client:
            return client.post("/services/scene_analysis/1/jobs", files=parts).status_code

    def ask_token(self, username: str, access_token: str) -> int:
        """What a program does that wants a JWT; the answer's status."""
        body = {"username": username, "client_id": self.known["login"], "access_token": access_token}
        with self.client(self.stack.console_url) as client:
            answer = client.post("/api-token-authstream/", json=body)
        assert (answer.status_code == 200) == ("token" in answer.json()), answer.text
        return answer.status_code
