"""What a session's browser is called."""

import pytest
from allauth.usersessions.models import UserSession
from django.utils.translation import override

from onlooker.console.accounts.models import Account
from onlooker.console.templatetags.browsers import browser_name
from sign_in_forms import sign_in_by_form

pytest_plugins = ["pages"]

CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)"
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64"
PHONE = "Mozilla/5.0 (Linux; Android 10; K)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (f"{WINDOWS}; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Windows"),
        (f"{WINDOWS}) {CHROME} Safari/537.36 Edg/142.0.0.0", "Edge on Windows"),
        (f"{WINDOWS}) {CHROME} Safari/537.36 OPR/125.0.0.0", "Opera on Windows"),
        (f"{PHONE} {CHROME} Mobile Safari/537.36 EdgA/142.0.0.0", "Edge on Android"),
        (f"{PHONE} {CHROME} Mobile Safari/537.36", "Chrome on Android"),
        (
            "Mozilla/5.0 (Linux; Android 15; SM-S931B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/29.0 "
            "Chrome/136.0.0.0 Mobile Safari/537.36",
            "Samsung Internet on Android",
        ),
        (f"{IPHONE} Version/18.6 Mobile/15E148 Safari/604.1", "Safari on iPhone"),
        (f"{IPHONE} CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1", "Chrome on iPhone"),
        (f"{IPHONE} FxiOS/145.0 Mobile/15E148 Safari/605.1.15", "Firefox on iPhone"),
        (f"{MAC} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15", "Safari on macOS"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
        (f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {CHROME} Safari/537.36", "Chrome on ChromeOS"),
        ("Mozilla/5.0 (X11; FreeBSD amd64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox"),
        ("curl/8.16.0", "curl/8.16.0"),
        ("A browser of which nobody has heard before, 1.0", "A browser of which nobody has heard bef…"),
        ("", ""),
    ],
)
def test_a_browser_is_called_by_its_name_and_its_system(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name


def test_the_page_has_what_the_browser_said_as_title(sign_in, owner: Account) -> None:
    said = f"{WINDOWS}; rv:145.0) Gecko/20100101 Firefox/<145>"
    browser = sign_in(None)
    sign_in_by_form(browser, owner.email)
    UserSession.objects.filter(user=owner).update(user_agent=said)
    page = browser.get("/accounts/sessions/").content.decode()
    assert f'title="{said.replace("<", "&lt;").replace(">", "&gt;")}">Firefox on Windows</td>' in page


def test_it_is_said_in_the_language_of_the_page() -> None:
    with override("fr"):
        assert browser_name(f"{IPHONE} Version/18.6 Safari/604.1") == "Safari sur iPhone"
