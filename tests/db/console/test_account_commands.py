"""`onlooker account`: accounts for those who host the product."""

import io

import pytest
from allauth.account.models import EmailAddress
from click.testing import CliRunner, Result

from onlooker.cli import main
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import account_of, create_stream
from sign_in_forms import PASSWORD, add_second_factor, is_signed_in, second_factors, sign_in_by_form

pytest_plugins = ["pages"]

GOOD = "seven lamps over the quay"


@pytest.fixture
def run(monkeypatch, db):
    monkeypatch.setenv("ONLOOKER_DATABASE_URL", "postgresql://127.0.0.1/unused")

    def onlooker(*words: str, password: str = GOOD) -> Result:
        return CliRunner().invoke(main, ["account", *words], input=io.BytesIO(f"{password}\n".encode()))

    return onlooker


def test_a_made_account_can_sign_in_at_once(run, sign_in) -> None:
    result = run("create", "New@Example.org", "--staff")
    assert (result.exit_code, result.output) == (0, "Staff account new@example.org created.\n")
    browser = sign_in(None)
    sign_in_by_form(browser, "new@example.org", GOOD)
    assert is_signed_in(browser)
    assert Account.objects.get().is_staff


def test_an_account_without_a_password_gets_one(run, sign_in) -> None:
    account_of("maker@example.org")
    assert "Password set for the account maker@example.org." in run("create", "maker@example.org").output
    browser = sign_in(None)
    sign_in_by_form(browser, "maker@example.org", GOOD)
    assert is_signed_in(browser)


def test_one_with_a_password_is_left_alone(run, owner) -> None:
    result = run("create", owner.email)
    assert result.exit_code == 1
    assert f"onlooker account password {owner.email}" in result.output
    owner.refresh_from_db()
    assert owner.check_password(PASSWORD)


@pytest.mark.parametrize(("email", "password"), [("nonsense", GOOD), ("a@example.org", "short"), ("a@example.org", "")])
def test_what_the_page_would_refuse_is_refused(run, email, password) -> None:
    assert run("create", email, password=password).exit_code == 1
    assert not Account.objects.exists()


def test_a_new_password_ends_sessions_and_may_remove_the_second_factor(run, sign_in, owner) -> None:
    add_second_factor(owner)
    browser = sign_in(owner)
    assert run("password", owner.email).exit_code == 0
    assert not is_signed_in(browser)
    assert second_factors(owner) == {"totp"}
    run("password", owner.email, "--remove-second-factor")
    assert second_factors(owner) == set()
    assert EmailAddress.objects.get(user=owner).verified
    assert "onlooker account list" in run("password", "nobody@example.org").output


def test_the_list_has_everybody_and_no_secret(run, owner, staff) -> None:
    account_of("maker@example.org")
    lines = run("list").output.splitlines()
    assert [line.split()[2:] for line in lines[1:]] == [
        ["verified", "no", owner.email],
        ["verified", "yes", staff.email],
        ["unverified", "no", "maker@example.org"],
    ]


def test_deleting_asks_for_yes_and_takes_the_streams_along(run, owner) -> None:
    stream = create_stream("Lobby", owner=owner, kind="developer").stream
    assert run("delete", owner.email).exit_code == 2
    assert run("delete", owner.email, "--yes").output == f"Account {owner.email} deleted, with 1 stream.\n"
    stream.refresh_from_db()
    assert stream.removed_at
    assert not Account.objects.exists()
