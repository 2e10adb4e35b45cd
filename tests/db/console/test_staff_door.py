"""The staff's pages are behind the same door as all others, and need a second factor."""

from sign_in_forms import add_second_factor

pytest_plugins = ["pages"]


def test_strangers_sign_in_on_the_page_that_has_the_limits(sign_in, db) -> None:
    browser = sign_in(None)
    for address in ("/staff/", "/staff/login/"):
        answer = browser.get(address, follow=True)
        assert answer.redirect_chain[-1][0].startswith("/accounts/login/?next=/staff/")


def test_for_other_accounts_there_is_nothing(sign_in, owner) -> None:
    add_second_factor(owner)
    assert sign_in(owner).get("/staff/", follow=True).status_code == 404


def test_staff_sets_up_a_second_factor_first(sign_in, owner) -> None:
    owner.is_staff = owner.is_superuser = True
    owner.save()
    browser = sign_in(owner)
    answer = browser.get("/staff/", follow=True)
    assert "/accounts/2fa/totp/activate/" in [address for address, _ in answer.redirect_chain]
    add_second_factor(owner)
    assert browser.get("/staff/").status_code == 200
