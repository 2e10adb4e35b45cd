"""The provider as a process of its own, with people whose groups can change while it runs."""

import json
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testkit.ports import free_ports

FOLDER = Path(__file__).parent
CLIENT_ID = "onlooker"
SCOPES = "openid email profile groups"
NEEDS = "needs Node.js, and: just identity-provider"


@dataclass
class IdentityProviderProcess:
    """Where it is, what the console must know of it, and who is there."""

    issuer: str
    client_secret: str
    people_file: Path
    people: dict[str, dict[str, Any]] = field(default_factory=dict)

    def put(self, subject: str, **claims: Any) -> None:
        """A person, or what has changed about one."""
        self.people[subject] = self.people.get(subject, {}) | claims
        self.people_file.write_text(json.dumps(self.people), encoding="utf-8")


def is_installed() -> bool:
    return shutil.which("node") is not None and (FOLDER / "node_modules" / "oidc-provider").is_dir()


@contextmanager
def running_identity_provider(return_url: str) -> Iterator[IdentityProviderProcess]:
    """For one client, whose answers go to this address."""
    [port] = free_ports(1)
    with tempfile.TemporaryDirectory(prefix="onlooker-provider-") as folder:
        provider = IdentityProviderProcess(
            f"http://127.0.0.1:{port}", secrets.token_urlsafe(24), Path(folder) / "people.json"
        )
        provider.put("nobody")
        client = {"client_id": CLIENT_ID, "client_secret": provider.client_secret, "redirect_uris": [return_url]}
        configuration = Path(folder) / "configuration.json"
        known = {"port": port, "issuer": provider.issuer, "client": client, "people": str(provider.people_file)}
        configuration.write_text(json.dumps(known), encoding="utf-8")
        command = ["node", str(FOLDER / "provider.js"), str(configuration)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline().strip() == "ready", "The provider did not start."
                yield provider
            finally:
                process.terminate()
