"""A bearer's token is good while its signature, its time and the credential behind it are."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta

import jwt
import pytest
from django.utils import timezone

from bearer_tokens import ISSUER, REMEMBER_S, Check, claims_of, database_url, refusal, sign
from memberships import share_stream, viewers
from onlooker.console.accounts.models import Account
from onlooker.console.tokens.models import SigningKey
from onlooker.console.tokens.signing_keys import rotate_keys, signing_key
from onlooker.database import open_pool
from onlooker.errors import Problem
from onlooker.settings import Settings
from onlooker.streams import bearer_tokens
from onlooker.streams.administration import remove_stream, rotate_access_token
from onlooker.streams.bearer_tokens import BearerTokens, read_token
from onlooker.streams.models import AccessToken, Membership, Stream
from token_requests import Camera, get_token

pytest_plugins = ["pages", "cameras"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_good_token_names_its_stream_and_account(camera: Camera, owner: Account, check: Check) -> None:
    Stream.objects.update(time_zone="Europe/Paris")
    bearer = check(get_token(camera))
    assert (bearer.stream_id, bearer.client_id) == (camera.stream.pk, camera.stream.client_id)
    assert (bearer.user_id, bearer.username, bearer.time_zone) == (owner.pk, "owner@example.org", "Europe/Paris")


def test_a_disabled_stream_is_still_read(camera: Camera, check: Check) -> None:
    Stream.objects.update(enabled=False)
    assert check(get_token(camera))


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer  ", "Basic abc", "abc"])
def test_no_token_is_a_missing_token(header: str | None) -> None:
    with pytest.raises(Problem) as caught:
        read_token(header)
    assert (caught.value.status, str(caught.value.code)) == (401, "missing_token")


def test_a_token_is_read_from_its_header() -> None:
    assert read_token("bearer a.b.c ") == "a.b.c"


def end_grace(camera: Camera) -> None:
    rotate_access_token(camera.stream, grace=timedelta(0))


def end_account(camera: Camera) -> None:
    Account.objects.filter(email="viewer@example.org").update(is_active=False)


def delete_account(camera: Camera) -> None:
    Account.objects.filter(email="viewer@example.org").delete()


def end_membership(camera: Camera) -> None:
    viewers().delete()


def end_stream(camera: Camera) -> None:
    remove_stream(camera.stream)


WAYS_TO_DIE = [end_grace, end_account, delete_account, end_membership, end_stream]


@pytest.mark.parametrize("end", WAYS_TO_DIE)
def test_a_token_dies_with_its_credential(
    camera: Camera, viewer: Account, check: Check, end: Callable[[Camera], None]
) -> None:
    share_stream(camera.stream, viewer)
    token = get_token(camera, "viewer@example.org")
    assert check(token)
    end(camera)
    time.sleep(REMEMBER_S)
    assert refusal(check, token) == "invalid_jwt"


def test_a_membership_that_is_given_again_does_not_revive_a_token_from_before(
    camera: Camera, viewer: Account, check: Check
) -> None:
    share_stream(camera.stream, viewer)
    claims = claims_of(get_token(camera, "viewer@example.org"))
    assert check(sign(claims))
    assert check(sign(claims | {"email": claims["username"]})), "as consoles of earlier releases signed them"
    assert refusal(check, sign(claims | {"iat": claims["iat"] - 60})) == "invalid_jwt"


def test_what_is_remembered_is_bounded_in_time_by_default() -> None:
    assert BearerTokens.__init__.__kwdefaults__ == {"remember_s": 30}
    assert max(30, bearer_tokens.STALE_LIMIT_S) < 60


def test_a_token_outlives_a_rotation_of_its_access_token_by_the_grace(camera: Camera, check: Check) -> None:
    token = get_token(camera)
    rotate_access_token(camera.stream, grace=timedelta(hours=1))
    time.sleep(REMEMBER_S)
    assert check(token)
    AccessToken.objects.exclude(expires_at=None).update(expires_at=timezone.now())
    time.sleep(REMEMBER_S)
    assert refusal(check, token) == "invalid_jwt"


def test_a_key_made_just_now_is_found_and_one_that_ended_is_not(camera: Camera, check: Check) -> None:
    old = get_token(camera)
    assert check(old)
    rotate_keys()
    new = get_token(camera)
    assert kid(new) != kid(old)
    time.sleep(1)
    assert check(new)
    assert check(old)
    SigningKey.objects.exclude(retires_at=None).update(retires_at=timezone.now())
    time.sleep(REMEMBER_S)
    assert refusal(check, old) == "invalid_jwt"
    assert check(new)


def kid(token: str) -> str:
    return str(jwt.get_unverified_header(token)["kid"])


def test_an_unknown_kid_is_looked_for_at_once_but_not_more_than_once_a_second(camera: Camera) -> None:
    old = get_token(camera)
    rotate_keys()
    new = get_token(camera)
    SigningKey.objects.filter(kid=kid(new)).update(kid="for a while another")

    async def run() -> None:
        async with open_pool(Settings(database_url=database_url(), database_pool_size=2)) as pool:
            checker = BearerTokens(pool, ISSUER)
            await checker.check(old)
            async with pool.connection() as connection:
                await connection.execute("UPDATE tokens_signingkey SET kid = %s WHERE retires_at IS NULL", [kid(new)])
            with pytest.raises(Problem):
                await checker.check(new)
            await asyncio.sleep(1)
            assert await checker.check(new)

    asyncio.run(run())


def test_an_expired_token_is_told_apart(camera: Camera, check: Check) -> None:
    claims = claims_of(get_token(camera))
    now = int(time.time())
    Membership.objects.update(created_at=timezone.now() - timedelta(days=1))
    assert refusal(check, sign(claims | {"iat": now - 18_010, "exp": now - 10})) == "expired_jwt"
    assert check(sign(claims | {"iat": now - 17_990, "exp": now + 10}))


def test_a_token_signed_by_somebody_else_is_not_called_expired(camera: Camera, check: Check) -> None:
    claims = claims_of(get_token(camera)) | {"exp": 1}
    assert refusal(check, jwt.encode(claims, "x" * 32, headers={"kid": signing_key()[0]})) == "invalid_jwt"


def test_while_the_database_is_away_a_remembered_answer_serves_for_a_while(camera: Camera) -> None:
    token = get_token(camera)

    async def run() -> None:
        pool = open_pool(Settings(database_url=database_url(), database_pool_size=2))
        await pool.open()
        checker = BearerTokens(pool, ISSUER, remember_s=0)
        first = await checker.check(token)
        await pool.close()
        assert await checker.check(token) == first

    asyncio.run(run())
