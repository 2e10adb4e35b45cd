"""A token works as soon as it was made, though its stream's tokens were read before; guessing costs few queries."""

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from bearer_tokens import database_url
from onlooker.database import open_pool
from onlooker.settings import Settings
from onlooker.streams import credentials
from onlooker.streams.administration import add_trial_token, rotate_access_token
from onlooker.streams.credentials import Credentials, StreamRecord
from onlooker.streams.rate_limit import RateLimit
from token_requests import Camera

pytest_plugins = ["pages", "cameras"]
pytestmark = pytest.mark.django_db(transaction=True)


class Checker(Credentials):
    """Remembers for long, counts what it reads, and can be asked without a loop."""

    reads = 0
    ask: Callable[[str, str], StreamRecord | None]

    async def _read(self, client_id: uuid.UUID) -> StreamRecord | None:
        self.reads += 1
        return await super()._read(client_id)


@pytest.fixture
def checker(transactional_db: None) -> Iterator[Checker]:
    with asyncio.Runner() as runner:
        pool = open_pool(Settings(database_url=database_url(), database_pool_size=2))
        runner.run(pool.open())
        checker = Checker(pool, remember_s=60)
        checker.ask = lambda client_id, token: runner.run(checker.check(client_id, token))
        yield checker
        runner.run(pool.close())


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes refusals old enough to be looked at again after a moment."""
    monkeypatch.setattr(credentials, "RECHECK_S", 0.05)
    return lambda: time.sleep(0.06)


def test_a_new_password_works_at_once(camera: Camera, checker: Checker, soon: Callable[[], None]) -> None:
    client_id = str(camera.stream.client_id)
    assert checker.ask(client_id, camera.access_token)
    soon()
    new = rotate_access_token(camera.stream, grace=timedelta(hours=1))
    assert checker.ask(client_id, new)
    assert checker.ask(client_id, camera.access_token)
    assert checker.reads == 2


def test_a_new_trial_token_works_at_once_and_is_known_as_one(
    camera: Camera, checker: Checker, soon: Callable[[], None]
) -> None:
    client_id = str(camera.stream.client_id)
    device = checker.ask(client_id, camera.access_token)
    soon()
    trial = checker.ask(client_id, add_trial_token(camera.stream).access_token)
    assert device
    assert trial
    assert (device.is_trial, trial.is_trial) == (False, True)
    assert device.id == trial.id


def test_a_right_token_is_looked_up_once(camera: Camera, checker: Checker, soon: Callable[[], None]) -> None:
    for _ in range(3):
        assert checker.ask(str(camera.stream.client_id), camera.access_token)
        soon()
    assert checker.reads == 1


@pytest.mark.parametrize("is_known", [True, False])
def test_wrong_credentials_are_looked_up_no_oftener_than_a_recheck_is_due(
    camera: Camera, checker: Checker, *, is_known: bool
) -> None:
    """Of a stream that there is as of one that there is not: how long an answer takes tells nothing."""
    client_id = str(camera.stream.client_id if is_known else uuid.uuid4())
    for number in range(50):
        assert checker.ask(client_id, f"guess {number}") is None
    assert checker.reads == 1


def test_all_streams_together_are_looked_up_again_only_so_often(
    camera: Camera, checker: Checker, soon: Callable[[], None]
) -> None:
    checker._rechecks = RateLimit(per_second=2, burst=2)
    nobody = [str(uuid.uuid4()) for _ in range(10)]
    for client_id in nobody:
        checker.ask(client_id, "wrong")
    soon()
    for client_id in nobody:
        checker.ask(client_id, "wrong")
    assert 12 <= checker.reads <= 13
