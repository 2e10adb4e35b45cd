"""Accounts of an earlier release with streams, viewers, Passwords and tokens: what each may before and after."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from bench.lib.clients import ENTITIES, fetch_token, open_client, open_data_client
from bench.lib.product import say
from onlooker.streams.credentials import hash_access_token, new_access_token
from testkit import Stack, TestStream

STREAMS, OWNERS, VIEWERS = 200, 20, 30
STRANGERS = 40
"""Pairs of an account and a stream that it does not see; a console answers 100 wrong ones a minute."""
REFUSED = (400, 401)
ACCOUNTS = """
INSERT INTO accounts_account (password, is_superuser, email, is_staff, is_active, created_at)
SELECT '!', false, 'person' || number || '@example.org', false, true, now() - interval '1 year'
FROM generate_series(1, %s) number RETURNING id, email
"""
STREAM = """
INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at)
VALUES (%s, %s, gen_random_uuid(), 'enterprise', true, now() - interval '100 days') RETURNING id, client_id::text
"""
PASSWORD = "INSERT INTO streams_accesstoken (stream_id, sha256, created_at) VALUES (%s, %s, now())"
VIEWER = "INSERT INTO streams_member (stream_id, account_id, created_at) VALUES (%s, %s, now() - interval '1 day')"
SEEN = """
SELECT account.email, stream.client_id::text FROM accounts_account account
JOIN streams_membership membership ON membership.account_id = account.id
JOIN streams_stream stream ON stream.organisation_id = membership.organisation_id AND stream.removed_at IS NULL
WHERE membership.role <> 'viewer' OR EXISTS (
    SELECT FROM streams_membershipsite chosen
    WHERE chosen.membership_id = membership.id AND chosen.site_id = stream.site_id)
"""
"""As the tables of organisations have it."""
Pair = tuple[str, TestStream]


@dataclass
class EarlierAccounts:
    """Made straight in the tables of the release before, which is running."""

    stack: Stack
    streams: list[TestStream] = field(default_factory=list)
    sees: list[Pair] = field(default_factory=list)
    """Which account sees which stream."""
    emails: list[str] = field(default_factory=list)
    tokens: list[tuple[Pair, str]] = field(default_factory=list)

    def create(self) -> None:
        people = self.stack.execute(ACCOUNTS, OWNERS + VIEWERS)
        self.emails = [email for _, email in people]
        owners, viewers = people[:OWNERS], people[OWNERS:]
        for number in range(STREAMS):
            owner_id, owner = owners[number % OWNERS]
            ((stream_id, client_id),) = self.stack.execute(STREAM, owner_id, f"Door {number}")
            stream = TestStream(stream_id, client_id, new_access_token())
            self.stack.execute(PASSWORD, stream.id, hash_access_token(stream.access_token))
            self.streams.append(stream)
            self.sees.append((owner, stream))
            if number % 3:
                for other in range(number % 4 + 1):
                    viewer_id, viewer = viewers[(number + other) % VIEWERS]
                    self.stack.execute(VIEWER, stream.id, viewer_id)
                    self.sees.append((viewer, stream))
        say(f"{len(self.streams)} streams, {len(self.emails)} accounts, {len(self.sees)} ways to see a stream")

    def take_tokens(self) -> None:
        """From the console of the release before, one for each way to see a stream."""
        self.tokens = [(pair, fetch_token(self.stack, pair[1], username=pair[0])) for pair in self.sees]

    def check(self) -> dict[str, Any]:
        """After the upgrade: every Password, every token of before, a new token for each way, none for a stranger."""
        wrong: Counter[str] = Counter()
        for stream in self.streams:
            with open_client(self.stack, stream) as client:
                wrong["passwords"] += client.get("/services").status_code != 200
        for _, token in self.tokens:
            wrong["tokens_of_before"] += not self._may_read(token)
        for email, stream in self.sees[::5]:
            wrong["new_tokens"] += not self._may_read(self._token(email, stream))
        for email, stream in self._strangers():
            wrong["strangers"] += bool(self._token(email, stream))
        saw = {(email, stream.client_id) for email, stream in self.sees}
        sees = {(email, client_id) for email, client_id in self.stack.execute(SEEN) if email in self.emails}
        wrong["seen_less"], wrong["seen_more"] = len(saw - sees), len(sees - saw)
        faults = {name: count for name, count in wrong.items() if count}
        return {
            "ok": not faults,
            "streams": len(self.streams),
            "accounts": len(self.emails),
            "tokens": len(self.tokens),
            "wrong": faults,
        }

    def _strangers(self) -> Sequence[Pair]:
        known = {(email, stream.client_id) for email, stream in self.sees}
        pairs = [(email, stream) for stream in self.streams for email in self.emails]
        strange = [pair for pair in pairs if (pair[0], pair[1].client_id) not in known]
        return strange[:: max(1, len(strange) // STRANGERS)][:STRANGERS]

    def _token(self, email: str, stream: TestStream) -> str:
        """Empty where the console gives none."""
        try:
            return fetch_token(self.stack, stream, username=email)
        except httpx2.HTTPStatusError as error:
            if error.response.status_code in REFUSED:
                return ""
            raise

    def _may_read(self, token: str) -> bool:
        if not token:
            return False
        asked = {
            "metrics": "passing_by",
            "time": "global",
            "tz": "UTC",
            "from_date": "2026-01-01",
            "to_date": "2026-01-31",
        }
        with open_data_client(self.stack, token) as client:
            return client.get(ENTITIES, params=asked).status_code == 200
