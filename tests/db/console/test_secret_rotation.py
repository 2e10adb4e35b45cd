"""Replacing the secret key: what the key before sealed and signed stays good until everything is sealed again."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from click.testing import CliRunner

from onlooker.cli import main
from onlooker.console.accounts.models import Account
from onlooker.console.tokens import signing_keys
from onlooker.console.tokens.models import SigningKey
from onlooker.console.web import secret_key
from onlooker.console.web.sealed_values import examine_seals, reseal_all
from onlooker.settings import Settings, SettingsError
from sign_in_forms import add_second_factor, code_of, is_signed_in, sign_in_by_form
from token_requests import Camera, get_token

pytest_plugins = ["pages", "cameras"]

NEW = "another secret that is long enough for all the checks there are, too"
AUTHENTICATE = "/accounts/2fa/authenticate/"
Keys = Callable[..., None]


@pytest.fixture
def keys(settings: Any) -> Iterator[Keys]:
    """As if the console was restarted with a secret key, and earlier ones."""

    def restart(key: str, *earlier: str) -> None:
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = key, list(earlier)
        secret_key._boxes.cache_clear()
        signing_keys._open.cache_clear()

    before = settings.SECRET_KEY
    yield restart
    restart(before)


def signs_in(browser: Any, account: Account, secret: str) -> bool:
    sign_in_by_form(browser, account.email)
    browser.post(AUTHENTICATE, {"code": code_of(secret)})
    return is_signed_in(browser)


def run(*arguments: str, key: str, earlier: str = "") -> tuple[int, str]:
    environment = {
        "DJANGO_SETTINGS_MODULE": "console_settings",
        "ONLOOKER_SECRET_KEY": key,
        "ONLOOKER_SECRET_KEY_FALLBACKS": earlier,
        "ONLOOKER_HOME": "/nonexistent",
    }
    result = CliRunner().invoke(main, ["secrets", *arguments], env=environment)
    return result.exit_code, result.output


def stored() -> list[Any]:
    """All that is sealed."""
    factors, keys = Authenticator.objects.order_by("pk"), SigningKey.objects.order_by("pk")
    return [*factors.values_list("data", flat=True), *keys.values_list("sealed_private_pem", flat=True)]


def test_with_the_earlier_key_nobody_notices(
    settings: Any, keys: Keys, sign_in: Any, owner: Any, camera: Camera
) -> None:
    old, secret = settings.SECRET_KEY, add_second_factor(owner)
    signed_in = sign_in(owner)
    kid = signing_keys.signing_key()[0]
    keys(NEW, old)
    assert is_signed_in(signed_in)
    assert signs_in(sign_in(None), owner, secret)
    get_token(camera)
    assert signing_keys.signing_key()[0] == kid


def test_after_resealing_the_earlier_key_can_go(
    settings: Any, keys: Keys, sign_in: Any, owner: Any, camera: Camera
) -> None:
    old, secret = settings.SECRET_KEY, add_second_factor(owner)
    get_token(camera)
    kid = signing_keys.signing_key()[0]
    keys(NEW, old)
    assert run("reseal", "--check", key=NEW, earlier=old)[0] == 1
    sealed = Authenticator.objects.count() + 1
    assert (examine_seals().earlier, reseal_all(str).earlier) == (sealed, sealed)
    assert (reseal_all(str).earlier, examine_seals().newest) == (0, sealed)
    keys(NEW)
    assert signs_in(sign_in(None), owner, secret)
    assert signing_keys.signing_key()[0] == kid


def test_what_is_sealed_again_row_by_row_can_be_stopped_between(
    settings: Any, keys: Keys, owner: Any, viewer: Any
) -> None:
    old = settings.SECRET_KEY
    for account in (owner, viewer):
        add_second_factor(account)
    keys(NEW, old)
    half = Authenticator.objects.order_by("pk").first()
    half.data["secret"] = secret_key.reseal(half.data["secret"])
    half.save()
    state = reseal_all(str)
    assert (state.newest, state.earlier) == (1, Authenticator.objects.count() - 1)


def test_recovery_codes_stay_those_that_were_printed(settings: Any, keys: Keys, owner: Any) -> None:
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    old = settings.SECRET_KEY
    printed = RecoveryCodes.activate(owner).get_unused_codes()
    keys(NEW, old)
    reseal_all(str)
    keys(NEW)
    found = RecoveryCodes(Authenticator.objects.get(user=owner, type="recovery_codes"))
    assert (found.get_unused_codes(), len(printed)) == (printed, 10)


def test_without_the_earlier_key_the_command_names_the_remedy(keys: Keys, owner: Any, camera: Camera) -> None:
    add_second_factor(owner)
    get_token(camera)
    before = stored()
    keys(NEW)
    for arguments in (("reseal",), ("reseal", "--check"), ("drop",)):
        code, output = run(*arguments, key=NEW)
        assert code == 1
        assert f"No key opens: totp of account {owner.pk}" in output
        assert "Add it to ONLOOKER_SECRET_KEY_FALLBACKS" in output
    after = stored()
    assert after == before


def test_without_the_earlier_key_a_code_is_refused_and_the_log_names_the_remedy(
    keys: Keys, sign_in: Any, owner: Any, caplog: pytest.LogCaptureFixture
) -> None:
    secret = add_second_factor(owner)
    keys(NEW)
    with caplog.at_level(logging.ERROR):
        assert not signs_in(sign_in(None), owner, secret)
    (record,) = [one for one in caplog.records if "second factor not readable" in one.getMessage()]
    assert "ONLOOKER_SECRET_KEY_FALLBACKS" in record.fields["remedy"]  # type: ignore[attr-defined]


def test_dropping_too_early_is_refused(settings: Any, keys: Keys, owner: Any) -> None:
    old = settings.SECRET_KEY
    add_second_factor(owner)
    keys(NEW, old)
    code, output = run("drop", key=NEW, earlier=old)
    assert (code, "Run `onlooker secrets reseal` first" in output) == (1, True)


def test_the_home_folders_key_is_replaced_and_the_one_before_kept(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path))
    first = secret_key.ensure_secret_key(settings)
    secret_key.replace_secret_key(settings)
    second = secret_key.find_secret_key(settings)
    secret_key.replace_secret_key(settings)
    assert len({first, second, secret_key.find_secret_key(settings)}) == 3
    assert secret_key.find_earlier_keys(settings) == [second, first]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    secret_key.drop_earlier_keys(settings)
    assert secret_key.find_earlier_keys(settings) == []


def test_a_key_that_is_set_is_not_replaced_in_the_home_folder(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="ONLOOKER_SECRET_KEY_FALLBACKS to the one before"):
        secret_key.replace_secret_key(Settings(home=str(tmp_path), secret_key="set"))
    assert not list(tmp_path.iterdir())
