"""A gateway that has a stream's tokens in its cache refuses those of a revoked device at the next look."""

import asyncio
from collections.abc import Iterator

import pytest

from bearer_tokens import database_url
from enrolments import code_of, enrolled, new_key, renew
from onlooker.console.accounts.models import Account
from onlooker.database import open_pool
from onlooker.devices.enrolment import revoke_device
from onlooker.devices.models import Device
from onlooker.devices.revocation import RevocationWatch
from onlooker.settings import Settings
from onlooker.streams.cache import BoundedCache
from onlooker.streams.credentials import Credentials

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


class WatchedCache:
    """Credentials that are remembered for an hour, and the watch over them."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._run = runner.run
        pool = self.pool = open_pool(Settings(database_url=database_url(), database_pool_size=2))
        self._run(pool.open())
        self._credentials = Credentials(pool, remember_s=3600)
        self._watch = RevocationWatch(pool, self._credentials)

    def takes(self, said: dict[str, str]) -> bool:
        return self._run(self._credentials.check(said["client_id"], said["access_token"])) is not None

    def look(self) -> None:
        self._run(self._watch.check())


@pytest.fixture
def gateway(transactional_db: None) -> Iterator[WatchedCache]:
    with asyncio.Runner() as runner:
        made = WatchedCache(runner)
        yield made
        runner.run(made.pool.close())


def test_a_revoked_device_is_refused_though_its_token_was_remembered(owner: Account, gateway: WatchedCache) -> None:
    code = code_of(owner, devices=2).text
    revoked, other = enrolled(code), enrolled(code)
    assert gateway.takes(revoked)
    assert gateway.takes(other)
    revoke_device(Device.objects.get(device_id=revoked["device"]))
    gateway.look()
    assert not gateway.takes(revoked)
    assert gateway.takes(other)


def test_a_revocation_costs_one_reading(owner: Account, gateway: WatchedCache, monkeypatch: pytest.MonkeyPatch) -> None:
    said = enrolled(code_of(owner).text)
    revoke_device(Device.objects.get(device_id=said["device"]))
    forgotten: list[object] = []
    monkeypatch.setattr(Credentials, "forget", lambda _, client_id: forgotten.append(client_id))
    gateway.look()
    gateway.look()
    assert [str(one) for one in forgotten] == [said["client_id"]]


def test_a_renewed_credential_is_taken_beside_the_one_before(owner: Account, gateway: WatchedCache) -> None:
    key = new_key()
    first = enrolled(code_of(owner).text, key)
    second = renew(key).json()
    assert gateway.takes(second)
    assert gateway.takes(first)


def test_what_is_read_while_it_is_dropped_is_not_kept() -> None:
    async def go() -> list[int]:
        cache: BoundedCache[str, int] = BoundedCache(size=10, remember_s=60, stale_limit_s=60)
        numbers, is_open = iter([1, 2]), asyncio.Event()

        async def read() -> int:
            number = next(numbers)
            await is_open.wait()
            return number

        asked = asyncio.create_task(cache.get("key", read))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        cache.drop("key")
        is_open.set()
        return [await asked, await cache.get("key", read), await cache.get("key", read)]

    assert asyncio.run(go()) == [1, 2, 2]
