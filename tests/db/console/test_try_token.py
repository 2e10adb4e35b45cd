"""The access token that a trial sends frames with: for 15 minutes, few at a time, and good for nothing else."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.test import Client
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.streams.administration import (
    LIVE_TOKENS_AT_MOST,
    LIVE_TRIALS_AT_MOST,
    add_trial_token,
    remove_stream,
    rotate_access_token,
)
from onlooker.streams.credentials import hash_access_token
from onlooker.streams.models import AccessToken
from token_requests import Camera, ask

pytest_plugins = ["pages", "cameras"]

SignIn = Callable[[Account | None], Client]


def live_trials(camera: Camera) -> list[bytes]:
    live = AccessToken.objects.filter(stream=camera.stream, is_trial=True, expires_at__gt=timezone.now())
    return [bytes(token.sha256) for token in live.order_by("pk")]


def test_the_page_gets_a_token_for_15_minutes(sign_in: SignIn, owner: Account, camera: Camera) -> None:
    answer = sign_in(owner).post(f"/streams/{camera.stream.client_id}/try/token/")
    given = answer.json()
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert (given["url"], given["client_id"]) == ("https://gate.example.org", str(camera.stream.client_id))
    lasts = datetime.fromisoformat(given["expires_at"]) - timezone.now()
    assert timedelta(minutes=14, seconds=55) < lasts <= timedelta(minutes=15)
    assert given["expires_in_s"] == 900
    assert live_trials(camera) == [hash_access_token(given["access_token"])]


def test_another_site_can_have_none_made(owner: Account, camera: Camera) -> None:
    browser = Client(enforce_csrf_checks=True, SERVER_NAME="console.example.org")
    browser.force_login(owner)
    assert browser.post(f"/streams/{camera.stream.client_id}/try/token/", secure=True).status_code == 403
    assert live_trials(camera) == []


def test_looking_at_the_address_makes_none(sign_in: SignIn, owner: Account, camera: Camera) -> None:
    assert sign_in(owner).get(f"/streams/{camera.stream.client_id}/try/token/").status_code == 405
    assert live_trials(camera) == []


def test_beyond_the_bound_the_oldest_ends(camera: Camera) -> None:
    made = [hash_access_token(add_trial_token(camera.stream).access_token) for _ in range(LIVE_TRIALS_AT_MOST + 2)]
    assert live_trials(camera) == made[2:]


def test_who_asks_again_and_again_leaves_no_rows_behind(camera: Camera) -> None:
    for _ in range(3 * LIVE_TRIALS_AT_MOST):
        add_trial_token(camera.stream)
        AccessToken.objects.filter(is_trial=True).update(expires_at=timezone.now())
    assert AccessToken.objects.filter(is_trial=True).count() <= LIVE_TRIALS_AT_MOST
    assert AccessToken.objects.filter(is_trial=False).count() == 1


def test_trials_take_no_place_of_a_password(camera: Camera) -> None:
    for _ in range(LIVE_TRIALS_AT_MOST):
        add_trial_token(camera.stream)
    for _ in range(LIVE_TOKENS_AT_MOST - 1):
        rotate_access_token(camera.stream, grace=timedelta(hours=1))
    assert len(live_trials(camera)) == LIVE_TRIALS_AT_MOST


def test_a_rotation_without_grace_ends_trials_too(camera: Camera) -> None:
    add_trial_token(camera.stream)
    rotate_access_token(camera.stream, grace=timedelta(hours=1))
    assert len(live_trials(camera)) == 1
    rotate_access_token(camera.stream, grace=timedelta(0))
    assert live_trials(camera) == []


def test_a_trial_token_gets_no_token_for_numbers(camera: Camera) -> None:
    trial = add_trial_token(camera.stream).access_token
    assert ask(camera.body(access_token=trial)).status_code == 401
    assert ask(camera.body()).status_code == 200


def test_a_removed_stream_has_no_trials(camera: Camera) -> None:
    add_trial_token(camera.stream)
    remove_stream(camera.stream)
    assert live_trials(camera) == []
