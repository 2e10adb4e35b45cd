"""Keys that sign tokens: made once, rotated with two alive, replaced where they can't be read."""

import logging
import threading
from datetime import timedelta
from pathlib import Path

import jwt
import pytest
from click.testing import CliRunner
from django.conf import settings
from django.db import connection
from django.utils import timezone

from onlooker.cli import main
from onlooker.console.tokens import signing_keys
from onlooker.console.tokens.models import SigningKey
from onlooker.console.web import secret_key
from onlooker.proof.installation import Installation
from onlooker.settings import Settings, SettingsError
from token_requests import Camera, get_token

pytest_plugins = ["pages", "cameras"]


def kid_of(token: str) -> str:
    return str(jwt.get_unverified_header(token)["kid"])


def live_kids() -> list[str]:
    return [key.kid for key in signing_keys.live_keys()]


def run(*arguments: str) -> tuple[int, str]:
    environment = {"DJANGO_SETTINGS_MODULE": "console_settings", "ONLOOKER_SECRET_KEY": settings.SECRET_KEY}
    result = CliRunner().invoke(main, ["keys", *arguments], env=environment)
    return result.exit_code, result.output


@pytest.fixture
def another_secret(settings):
    """As if the console was started with another secret key."""

    def change(value: str) -> None:
        settings.SECRET_KEY = value
        secret_key._boxes.cache_clear()
        signing_keys._open.cache_clear()

    before = settings.SECRET_KEY
    yield change
    change(before)


def test_the_first_token_makes_a_key_and_the_second_uses_it(camera: Camera) -> None:
    assert kid_of(get_token(camera)) == kid_of(get_token(camera)) == SigningKey.objects.get().kid


def test_after_a_rotation_the_new_key_signs_and_the_old_one_verifies_for_five_hours(camera: Camera) -> None:
    old = get_token(camera)
    rotated = signing_keys.rotate_keys()
    new = get_token(camera)
    assert kid_of(new) == rotated.kid != kid_of(old)
    assert live_kids() == [kid_of(new), kid_of(old)]
    retires_at = SigningKey.objects.get(kid=kid_of(old)).retires_at
    expires_at = jwt.decode(old, options={"verify_signature": False})["exp"]
    assert retires_at is not None
    assert 0 < retires_at.timestamp() - expires_at < 120


def test_a_key_is_gone_when_its_last_token_has_expired(camera: Camera) -> None:
    get_token(camera)
    new = signing_keys.rotate_keys()
    SigningKey.objects.exclude(retires_at=None).update(retires_at=timezone.now())
    assert live_kids() == [new.kid]
    signing_keys.delete_retired_keys()
    assert SigningKey.objects.get().kid == new.kid


def test_rotating_again_too_soon_is_refused_and_names_the_remedy(camera: Camera) -> None:
    get_token(camera)
    assert run("rotate")[0] == 0
    before = live_kids()
    code, output = run("rotate")
    assert code == 1
    assert "keys rotate --now" in output
    assert live_kids() == before
    code, output = run("rotate", "--now")
    assert (code, "All earlier tokens have ended" in output) == (0, True)
    assert len(live_kids()) == 1
    assert live_kids()[0] not in before


def test_the_first_rotation_needs_no_key(db: None) -> None:
    assert "There is no key yet" in run("list")[1]
    assert run("rotate")[0] == 0
    code, output = run("list")
    assert (code, live_kids()[0] in output) == (0, True)


def test_a_key_does_not_sign_what_it_will_not_outlive(camera: Camera) -> None:
    dying = kid_of(get_token(camera))
    SigningKey.objects.update(retires_at=timezone.now() + timedelta(hours=4))
    assert kid_of(get_token(camera)) != dying
    assert len(live_kids()) == 2


def test_a_key_that_cannot_be_unsealed_is_replaced_and_that_is_logged(
    camera: Camera, another_secret, caplog: pytest.LogCaptureFixture
) -> None:
    old = kid_of(get_token(camera))
    another_secret("another secret that is long enough for all the checks there are, too")
    with caplog.at_level(logging.WARNING):
        new = kid_of(get_token(camera))
    assert "could not be unsealed" in caplog.text
    assert live_kids() == [new, old]
    assert SigningKey.objects.get(kid=old).retires_at is not None
    assert kid_of(get_token(camera)) == new


def test_a_proof_with_another_secret_key_is_refused_and_replaces_no_key(
    camera: Camera, another_secret, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Installation, "call", lambda *given, **named: None)
    installation = Installation(Settings(home=str(tmp_path)), tmp_path, print)
    with pytest.raises(SettingsError, match="Nothing was changed"):  # the console has no key yet
        installation.require_own_secret_key()
    assert live_kids() == []
    kid = kid_of(get_token(camera))
    installation.require_own_secret_key()
    another_secret("another secret that is long enough for all the checks there are, too")
    with pytest.raises(SettingsError, match="Nothing was changed"):
        installation.require_own_secret_key()
    assert SigningKey.objects.get().retires_at is None
    assert live_kids() == [kid]


def test_consoles_with_different_secrets_do_not_make_keys_without_end(camera: Camera, another_secret) -> None:
    first = settings.SECRET_KEY
    for _ in range(5):
        for value in (first, "another secret that is long enough for all the checks there are, too"):
            another_secret(value)
            get_token(camera)
    assert SigningKey.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_consoles_that_start_at_once_make_one_key() -> None:
    found: list[str] = []
    start = threading.Barrier(6)

    def sign() -> None:
        start.wait()
        found.append(signing_keys.signing_key()[0])
        connection.close()

    threads = [threading.Thread(target=sign) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert set(found) == {SigningKey.objects.get().kid}


def test_without_a_secret_key_the_command_says_what_to_set(db: None) -> None:
    environment = {"ONLOOKER_SECRET_KEY": "", "ONLOOKER_HOME": "/nonexistent"}
    result = CliRunner().invoke(main, ["keys", "rotate"], env=environment)
    assert (result.exit_code, "ONLOOKER_SECRET_KEY" in result.output) == (2, True)
