"""A running installation as a check sees it: its settings, its addresses, its database and streams of its own."""

import http.client
import json
import secrets
import ssl
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from onlooker.audit.actor import acting_as, command_actor
from onlooker.database import direct_url
from onlooker.proof.places import Storage
from onlooker.settings import Settings, SettingsError
from onlooker.up.certificates import authority_file

CALL_LIMIT_S = 60.0


@dataclass(frozen=True)
class HttpAnswer:
    """Of an HTTP call."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class ProofStream:
    """A stream that was created for the proof, and is removed after it."""

    id: int
    client_id: str
    access_token: str
    owner_id: int
    owner: str
    """The e-mail address of its account, which also exists for the proof alone."""

    @property
    def basic(self) -> dict[str, str]:
        return basic_authorization(self.client_id, self.access_token)


@dataclass
class Installation:
    """What is running, and what the proof may use of it."""

    settings: Settings
    folder: Path
    """The proof's own, for films and homes of devices; removed at the end, and never taken for a trace."""
    say: Callable[[str], None]
    """Progress, for the person who waits."""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    things: ExitStack = field(default_factory=ExitStack)
    """Closed at the end of the proof."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What a check keeps from its `begin` to its `run`, or for a later check, by the check's id."""
    streams: list[ProofStream] = field(default_factory=list)
    log_files: list[Path] = field(default_factory=list)
    """Files that the product's log goes to, as the operator named them."""
    agent: str = "onlooker-agent"
    """The agent's program."""

    @cached_property
    def storage(self) -> Storage:
        """Its places; what is older than the first use of this is not looked at."""
        return Storage(self)

    @property
    def home(self) -> Path:
        return self.settings.home_path

    @cached_property
    def stream(self) -> ProofStream:
        """One that every check may use."""
        return self.create_stream(reads_expression=True)

    @property
    def gateway_url(self) -> str:
        return _address(self.settings.http_port, self.settings.public_url)

    @property
    def console_url(self) -> str:
        return _address(self.settings.console_http_port, self.settings.console_url)

    @property
    def data_url(self) -> str:
        return _address(self.settings.data_http_port, self.settings.data_url)

    @property
    def trusted_file(self) -> Path | None:
        """The certificate of the local authority, where there is one."""
        path = authority_file(self.home / "tls")
        return path if path.exists() else None

    def require_own_secret_key(self) -> None:
        """Refuses a secret key other than the console's, with which the proof would replace the key that signs tokens.

        A console that has signed nothing yet creates its key when it is asked for the public part, at its public
        address: elsewhere it answers proxies alone.
        """
        from onlooker.console.tokens.signing_keys import has_readable_key

        public = f"{self.settings.console_url}/.well-known/jwks.json"
        with suppress(OSError, http.client.HTTPException):
            self.call(public)
        if not has_readable_key():
            raise SettingsError(
                "The secret key here opens no key with which this installation signs tokens. Nothing was changed. "
                "Either it is not the installation's secret key: run this command with the settings of `onlooker up`. "
                f"Or the console has no such key yet, and could not be asked for one: open {public} once."
            )

    def create_stream(self, **chosen: Any) -> ProofStream:
        """`chosen` are settings of the stream, such as `retention_days=1`."""
        from onlooker.streams.administration import account_of, create_stream

        owner = f"proof-{secrets.token_hex(8)}@localhost"
        account = account_of(owner)
        with acting_as(command_actor()):
            made = create_stream("Proof", owner=account, kind="enterprise", **chosen)
        stream = made.stream
        found = ProofStream(stream.pk, str(stream.client_id), made.access_token, account.pk, owner)
        self.streams.append(found)
        return found

    def bearer_token(self, stream: ProofStream) -> str:
        """A token with which the data endpoint is read."""
        from onlooker.console.tokens.issuance import find_token_subject, issue_token

        subject = find_token_subject(stream.owner, client_id=stream.client_id, access_token=stream.access_token)
        assert subject, "the proof's own stream is gone"
        return issue_token(subject)

    def call(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> HttpAnswer:
        """One request to an address of this installation; any status is an answer."""
        parts = urlsplit(url)
        assert parts.hostname, url
        connection: http.client.HTTPConnection = (
            http.client.HTTPSConnection(parts.hostname, parts.port, timeout=CALL_LIMIT_S, context=self._trust())
            if parts.scheme == "https"
            else http.client.HTTPConnection(parts.hostname, parts.port, timeout=CALL_LIMIT_S)
        )
        try:
            target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
            connection.request(method, target, body=body, headers=dict(headers or {}))
            answer = connection.getresponse()
            return HttpAnswer(
                answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
            )
        finally:
            connection.close()

    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.trusted_file) if self.trusted_file else None)

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of the installation's database, as the operator's role sees them."""
        with psycopg.connect(direct_url(self.settings), autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def remove_streams(self) -> None:
        """With their accounts and organisations, as an operator deletes an account."""
        from onlooker.console.accounts.deletion import erase_account
        from onlooker.console.accounts.models import Account

        for account in Account.objects.filter(pk__in=[one.owner_id for one in self.streams]):
            with acting_as(command_actor()):
                erase_account(account)


def basic_authorization(client_id: str, access_token: str) -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(f'{client_id}:{access_token}'.encode()).decode()}"}


def _address(plain_port: int, public_url: str) -> str:
    """Loopback where it listens: it needs no name and no certificate."""
    return f"http://127.0.0.1:{plain_port}" if plain_port else public_url


@contextmanager
def open_installation(settings: Settings, say: Callable[[str], None]) -> Iterator[Installation]:
    """Django is set up already. What was created for the proof is removed when the block ends."""
    with tempfile.TemporaryDirectory(prefix="onlooker-proof-") as folder:
        installation = Installation(settings, Path(folder), say)
        with installation.things as things:
            things.callback(installation.remove_streams)
            yield installation
