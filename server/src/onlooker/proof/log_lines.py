"""Talks to every endpoint with marked secrets, and looks for them in the log: no secret, no frame, no address."""

import json
import re
import secrets
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from onlooker.proof.check import Check, Finding, Unchecked

if TYPE_CHECKING:
    from onlooker.proof.installation import Installation

LOGS = "logs"
ADDRESS = "203.0.113.77"
"""Of no machine (RFC 5737): as which a proxy would show the client."""
ADDRESS_EVENTS = ("connections refused", "token refused")
"""The lines that may name a client's network address."""
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
WRITTEN_WITHIN_S = 5.0
PATTERNS = {
    "a token": re.compile(rb"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\."),
    "an encoded picture": re.compile(rb"/9j/[A-Za-z0-9+/]{40,}|iVBORw0KGgo[A-Za-z0-9+/]{20,}"),
    "a picture": re.compile(rb"\xff\xd8\xff[\xdb\xe0-\xef]|\x89PNG\r\n"),
}
NO_FRAME, IDS_ONLY, HOLDERS = "no-frame-in-log", "kept-logs", ("account-logs", "little-known-of-holders")
BREAKS = {"an encoded picture": (NO_FRAME, IDS_ONLY), "a picture": (NO_FRAME, IDS_ONLY)}
OF_HOLDERS = ("the address of an account", "the network address of a client")


@dataclass(frozen=True)
class LogTalk:
    """Requests of the proof, and what they carry."""

    mark: str
    """In every place that a client can fill."""
    request_id: str
    """Of a refused request: it may be logged, and shows that the log is the right one."""

    @classmethod
    def new(cls) -> "LogTalk":
        return cls(f"mark-{secrets.token_hex(12)}", f"proof-{secrets.token_hex(12)}")

    def hold(self, installation: "Installation") -> None:
        stream = installation.stream
        marked = {"User-Agent": self.mark, "Referer": self.mark, "Cookie": self.mark, "X-Forwarded-For": ADDRESS}
        wrong = {"Authorization": f"Basic {b64encode(f'{stream.client_id}:{self.mark}'.encode()).decode()}"}
        job = f"{installation.gateway_url}/services/dummy/1/jobs"
        body = json.dumps({"echo": self.mark, "async": False}).encode()
        as_json = {"Content-Type": "application/json"}
        installation.call(job, method="POST", headers=marked | stream.basic | as_json, body=body)
        installation.call(job, method="POST", headers=marked | stream.basic | as_json, body=b'{"' + self.mark.encode())
        installation.call(f"{installation.gateway_url}/blobs/{self.mark}", headers=marked | stream.basic)
        installation.call(f"{installation.gateway_url}/services", headers=marked | wrong)
        token = installation.bearer_token(stream)
        entities = f"{installation.data_url}/api/1/entities"
        installation.call(f"{entities}?metrics={self.mark}", headers=marked | {"Authorization": f"Bearer {token}"})
        installation.call(f"{entities}?token={token}", headers=marked)
        self._ask_for_token(installation)
        last = {"X-Request-Id": self.request_id}
        installation.call(f"{installation.gateway_url}/blobs/none", headers=stream.basic | last)

    def _ask_for_token(self, installation: "Installation") -> None:
        """With an address and a Password that open nothing."""
        asked = {"username": f"{self.mark}@example.org", "client_id": self.mark, "access_token": self.mark}
        public = urlsplit(installation.settings.console_url)
        # Without a proxy in between, the console answers such a request only over HTTPS.
        address = public.geturl() if public.hostname in THIS_MACHINE else installation.console_url
        headers = {"Content-Type": "application/json", "Host": public.netloc}
        url = f"{address}/api-token-authstream/"
        installation.call(url, method="POST", headers=headers, body=json.dumps(asked).encode())


def secret_texts(installation: "Installation", talk: LogTalk) -> dict[str, str]:
    """What no line may hold, and what it is."""
    texts = {talk.mark: "what a client sent", ADDRESS: "the network address of a client"}
    for stream in installation.streams:
        texts |= {
            stream.access_token: "a stream's Password",
            stream.client_id: "a stream's Login",
            stream.basic["Authorization"].partition(" ")[2]: "a stream's Login and Password",
            stream.owner: "the address of an account",
        }
    passwords = installation.home / "nats" / "passwords.json"
    if passwords.is_file():
        texts |= dict.fromkeys(json.loads(passwords.read_text()).values(), "a password of the bus")
    if password := urlsplit(installation.settings.database_url).password:
        texts[password] = "the database's password"
    return {text: what for text, what in texts.items() if len(text) >= 8}


def judge_log(content: bytes, texts: Mapping[str, str]) -> Iterator[str]:
    """What a part of the log holds that it must not hold."""
    for text, what in texts.items():
        if text.encode() in content:
            yield what
    for what, pattern in PATTERNS.items():
        if pattern.search(content):
            yield what
    for line in content.splitlines():
        if b'"address"' in line and _event(line) not in ADDRESS_EVENTS:
            yield "the network address of a client"


def _event(line: bytes) -> str:
    """Of a line that is whole; the others are judged where they are."""
    try:
        return str(json.loads(line)["event"])
    except (ValueError, KeyError, TypeError):
        return ADDRESS_EVENTS[0]


def read_logs(installation: "Installation", limits: list[str]) -> Iterator[tuple[str, bytes]]:
    for place in installation.storage.places():
        if place.name == LOGS:
            yield from place.read(limits)


def _await_last(installation: "Installation", request_id: str) -> bool:
    """Whether the line of the last request was written."""
    give_up_at = time.monotonic() + WRITTEN_WITHIN_S
    while time.monotonic() < give_up_at:
        if any(request_id.encode() in content for _, content in read_logs(installation, [])):
            return True
        time.sleep(0.5)
    return False


def check_logs(installation: "Installation") -> Finding:
    talk = LogTalk.new()
    talk.hold(installation)
    is_seen = _await_last(installation, talk.request_id)
    texts, limits = secret_texts(installation, talk), list[str]()
    found, files, size_bytes = dict[str, set[str]](), set[str](), 0
    for name, content in read_logs(installation, limits):
        files.add(name)
        size_bytes += len(content)
        for what in judge_log(content, texts):
            found.setdefault(what, set()).add(name)
    if not files:
        raise Unchecked(" ".join(limits) or "The product's log can't be read.")
    if not is_seen:
        limits.append(
            "The line of a refused request is not in these files: they are not the whole log, or ONLOOKER_LOG_LEVEL "
            "leaves it out."
        )
    return Finding(
        done=f"Sent marked values to the gateway, the data endpoint and the console, wherever a client can put one, "
        f"and looked for {len(texts)} secrets, marks and addresses, for tokens and for pictures in {len(files)} files "
        f"of the log, {size_bytes} bytes.",
        found=" ".join(f"The log holds {what} ({', '.join(sorted(names))})." for what, names in sorted(found.items()))
        or "The log holds none of them.",
        ok=not found,
        figures={"files": sorted(files), "bytes": size_bytes, "looked_for": len(texts), "line_seen": is_seen},
        broken=_broken(found),
        limits=tuple(limits),
    )


def _broken(found: Mapping[str, object]) -> tuple[str, ...]:
    broken = set[str]()
    for what in found:
        broken |= set(HOLDERS if what in OF_HOLDERS else BREAKS.get(what, (IDS_ONLY,)))
    return tuple(sorted(broken))


CHECK = Check(
    id="logs",
    title="Looks for secrets, frames and addresses in the log",
    promises=(NO_FRAME, IDS_ONLY, *HOLDERS),
    run=check_logs,
)
