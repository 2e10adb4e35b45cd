"""What was written on the way: no errors, and nothing that is a secret."""

import re
from collections.abc import Iterable
from pathlib import Path

from bench.journeys.console.person import PASSWORD
from bench.journeys.product.trip import Trip
from testkit.mailbox import text_of

_ERROR = re.compile(r'"level":"(error|critical)"|^Traceback |\b(ERROR|CRITICAL)\b')
_JWT = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}")
_KEYS_OF_LINKS = re.compile(r"/accounts/confirm-email/([^/\s]+)/")


def written_logs(trip: Trip) -> list[Path]:
    """Of the product, of HAProxy and of the agent."""
    return [trip.stack.output, trip.front.output, *trip.device.written]


def errors_in(paths: Iterable[Path]) -> list[str]:
    lines = [(path, line) for path in paths for line in _text(path).splitlines()]
    return [f"{path.name}: {line}" for path, line in lines if _ERROR.search(line)]


def secrets_in(paths: Iterable[Path], trip: Trip) -> list[str]:
    """Where one stands, without the secret itself."""
    links = [key for mail in trip.scene.mailbox.mails for key in _KEYS_OF_LINKS.findall(text_of(mail))]
    known = {"Password": trip.scene.known.get("first password", ""), "password of the account": PASSWORD}
    secrets = known | {f"link of mail {number}": key for number, key in enumerate(links, start=1)}
    found = []
    for path in paths:
        text = _text(path)
        found += [f"{path.name} has the {name}" for name, secret in secrets.items() if secret and secret in text]
        if _JWT.search(text):
            found.append(f"{path.name} has a JWT")
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
