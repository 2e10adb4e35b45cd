"""A key with scope `frames` is a Password of each stream that it reaches, until it is revoked, at the next look."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from bearer_tokens import database_url
from onlooker.console.accounts.models import Account
from onlooker.database import open_pool
from onlooker.devices.revocation import RevocationWatch
from onlooker.keys.key_uses import KeyUses
from onlooker.keys.keys import NewKey, create_key, revoke_key
from onlooker.keys.models import OrganisationKey
from onlooker.settings import Settings
from onlooker.streams.administration import create_stream
from onlooker.streams.credentials import Credentials, StreamRecord
from onlooker.streams.models import Stream
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


class KeyCache:
    """A gateway's credentials that are remembered for an hour, the watch over them, and the uses that it notes."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._run = runner.run
        self.pool = open_pool(Settings(database_url=database_url(), database_pool_size=2))
        self._run(self.pool.open())
        self._uses = KeyUses(self.pool)
        self._credentials = Credentials(self.pool, remember_s=3600, note_key=self._uses.note)
        self._watch = RevocationWatch(self.pool, self._credentials)

    def check(self, stream: Stream, text: str) -> StreamRecord | None:
        return self._run(self._credentials.check(str(stream.client_id), text))

    def look(self) -> None:
        self._run(self._watch.check())

    def write_uses(self) -> None:
        self._run(self._uses.flush())


@pytest.fixture
def gateway(transactional_db: None) -> Iterator[KeyCache]:
    with asyncio.Runner() as runner:
        made = KeyCache(runner)
        yield made
        runner.run(made.pool.close())


@pytest.fixture
def streams(owner: Account) -> list[Stream]:
    return [create_stream(name, owner=owner, kind="developer").stream for name in ("Door", "Till")]


def key_of(owner: Account, *scopes: str, streams: tuple[Stream, ...] = ()) -> NewKey:
    return create_key(organisation_of(owner), "Player", scopes or ("frames",), streams=streams)


def test_it_opens_every_stream_of_its_organisation_and_never_as_a_trial(
    owner: Account, stranger: Account, streams: list[Stream], gateway: KeyCache
) -> None:
    made = key_of(owner)
    for stream in streams:
        opened = gateway.check(stream, made.text)
        assert opened
        assert (opened.id, opened.is_trial, opened.key_id) == (stream.pk, False, made.key.pk)
    foreign = create_stream("Theirs", owner=stranger, kind="developer").stream
    assert gateway.check(foreign, made.text) is None


def test_it_opens_the_streams_that_it_is_limited_to(owner: Account, streams: list[Stream], gateway: KeyCache) -> None:
    made = key_of(owner, streams=(streams[0],))
    assert gateway.check(streams[0], made.text)
    assert gateway.check(streams[1], made.text) is None


@pytest.mark.parametrize("scopes", [("numbers",), ("manage", "enrol")])
def test_without_the_scope_it_opens_none(
    owner: Account, streams: list[Stream], gateway: KeyCache, scopes: tuple[str, ...]
) -> None:
    assert gateway.check(streams[0], key_of(owner, *scopes).text) is None


def test_an_expired_key_opens_none(owner: Account, streams: list[Stream], gateway: KeyCache) -> None:
    made = key_of(owner)
    OrganisationKey.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert gateway.check(streams[0], made.text) is None


def test_a_revoked_key_is_refused_by_all_streams_though_they_were_remembered(
    owner: Account, streams: list[Stream], gateway: KeyCache
) -> None:
    revoked, other = key_of(owner), key_of(owner)
    assert all(gateway.check(stream, one.text) for stream in streams for one in (revoked, other))
    revoke_key(revoked.key)
    gateway.look()
    assert not any(gateway.check(stream, revoked.text) for stream in streams)
    assert all(gateway.check(stream, other.text) for stream in streams)


def test_the_last_use_is_written_once_a_minute(owner: Account, streams: list[Stream], gateway: KeyCache) -> None:
    made = key_of(owner)
    gateway.write_uses()
    gateway.check(streams[0], made.text)
    gateway.write_uses()
    made.key.refresh_from_db()
    first = made.key.used_at
    assert first
    gateway.check(streams[0], made.text)
    gateway.write_uses()
    made.key.refresh_from_db()
    assert made.key.used_at == first
