"""Every page of an account that is in use says what it should, within the page's frame."""

import pytest

from sign_in_forms import add_second_factor, confirm_identity

pytest_plugins = ["pages"]

ANONYMOUS = ["login", "signup", "password/reset", "password/reset/done", "confirm-email", "inactive", "confirm-email/x"]
ANONYMOUS += ["password/reset/key/1-x", "password/reset/key/done"]
OWN = ["", "email", "password/change", "2fa", "2fa/totp/activate", "sessions", "delete", "reauthenticate", "logout"]


def check(page) -> None:
    text = page.content.decode()
    assert page.status_code == 200
    assert text.count("<h1") == 1
    assert 'id="content"' in text
    assert not [word for word in ("style=", "onclick", "<script>", "contact us", "{{", "{%") if word in text]


@pytest.mark.parametrize("name", ANONYMOUS)
def test_pages_before_signing_in(sign_in, db, name) -> None:
    check(sign_in(None).get(f"/accounts/{name}/"))


@pytest.mark.parametrize("name", OWN)
def test_pages_of_an_account(sign_in, owner, name) -> None:
    browser = sign_in(owner)
    confirm_identity(browser)
    check(browser.get(f"/accounts/{name}/".replace("//", "/")))


@pytest.mark.parametrize("name", ["2fa", "2fa/totp/deactivate", "2fa/recovery-codes/generate", "2fa/reauthenticate"])
def test_pages_of_an_account_with_a_second_factor(sign_in, owner, name) -> None:
    add_second_factor(owner)
    browser = sign_in(owner)
    confirm_identity(browser)
    check(browser.get(f"/accounts/{name}/"))


def test_the_overview_shows_what_there_is(sign_in, owner) -> None:
    browser = sign_in(owner)
    page = browser.get("/accounts/").content.decode()
    assert owner.email in page
    assert "Off: your password is enough to sign in" in page
    add_second_factor(owner)
    assert "On: your password alone is not enough" in browser.get("/accounts/").content.decode()


@pytest.mark.parametrize("name", [*OWN, "2fa/recovery-codes", "password/set", "sessions/1/end"])
def test_strangers_are_led_to_signing_in(sign_in, db, name) -> None:
    browser = sign_in(None)
    answer = (browser.post if name.endswith("end") else browser.get)(f"/accounts/{name}/".replace("//", "/"))
    if name == "2fa/recovery-codes":
        assert answer.status_code in (302, 404)
    else:
        assert answer.headers["location"].startswith("/accounts/login/")


@pytest.mark.parametrize("name", ["login/code", "2fa/trust", "signup/passkey", "3rdparty", "phone/change"])
def test_what_is_not_offered_is_not_there(sign_in, owner, name) -> None:
    assert sign_in(owner).get(f"/accounts/{name}/").status_code == 404
