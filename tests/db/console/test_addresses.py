"""Where the database is and where mails go, out of one address each."""

import pytest

from onlooker.console.web.connection_settings import database_settings, email_settings
from onlooker.database import VANISHED_SERVER
from onlooker.settings import Settings, SettingsError


def database(url: str) -> dict[str, object]:
    return database_settings(Settings(database_url=url))


def test_the_database_is_read_as_every_other_process_reads_it() -> None:
    found = database(
        "postgresql://me:se%23cret@db.example.org:5433/onlooker?sslmode=verify-full&target_session_attrs=any"
    )
    assert [found[name] for name in ("NAME", "HOST", "PORT", "USER", "PASSWORD")] == [
        "onlooker",
        "db.example.org",
        "5433",
        "me",
        "se#cret",
    ]
    assert found["OPTIONS"] == VANISHED_SERVER | {"sslmode": "verify-full", "target_session_attrs": "any"}
    assert database("postgresql:///onlooker?host=/run/postgresql")["HOST"] == "/run/postgresql"
    assert database("postgresql://one,two/onlooker")["HOST"] == "one,two"


@pytest.mark.parametrize("url", ["postgresql://me:se#cret@db/onlooker?x", "postgresql://db/onlooker?nonsense=1"])
def test_an_address_of_the_database_that_can_not_be_read_names_the_remedy(url: str) -> None:
    with pytest.raises(SettingsError, match="ONLOOKER_DATABASE_URL"):
        database(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}),
        ("file:///var/mails", {"EMAIL_FILE_PATH": "/var/mails"}),
        ("smtp://u:p%23s@mail:2525", {"EMAIL_PORT": 2525, "EMAIL_HOST_PASSWORD": "p#s", "EMAIL_USE_TLS": True}),
        ("smtps://mail", {"EMAIL_PORT": 465, "EMAIL_USE_SSL": True, "EMAIL_USE_TLS": False}),
        ("smtp://127.0.0.1:25?tls=no", {"EMAIL_PORT": 25, "EMAIL_USE_TLS": False, "EMAIL_USE_SSL": False}),
    ],
)
def test_each_form_of_an_address_of_mails(url: str, expected: dict[str, object]) -> None:
    found = email_settings(Settings(email_url=url))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("url", ["smtp://u:p#ss@mail", "smtp://mail:many", "smtp://u:p@mail:99999"])
def test_an_address_of_mails_that_can_not_be_read_names_the_remedy_and_no_secret(url: str) -> None:
    with pytest.raises(SettingsError, match="ONLOOKER_EMAIL_URL") as refused:
        email_settings(Settings(email_url=url))
    assert "p#ss" not in str(refused.value)
