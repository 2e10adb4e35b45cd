"""Opening hours with the weekdays of the reader's language: typed, shown, and stored with English ones."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils.translation import override

from onlooker.console.accounts.models import Account
from onlooker.console.devices.settings_form import DeviceSettingsForm, show_setting
from onlooker.console.languages.hours_text import read_hours, write_hours
from onlooker.console.streams.audit_sentences import write_changes
from onlooker.console.streams.forms import HoursField, SettingsForm
from onlooker.devices.device_settings import Level
from onlooker.streams.administration import create_stream
from onlooker.streams.business_hours import WEEKDAYS, check_hours

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
LANGUAGES = [code for code, _ in settings.LANGUAGES]
STORED = "mo-fr 09:00-18:30, sa 10:00-16:00"
WRITTEN = {
    "en-gb": STORED,
    "fr": "lu-ve 09:00-18:30, sa 10:00-16:00",
    "de": "Mo-Fr 09:00-18:30, Sa 10:00-16:00",
    "es": "lu-vi 09:00-18:30, sá 10:00-16:00",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_hours_are_shown_and_read_in_the_language_of_the_page(language: str) -> None:
    with override(language):
        field = HoursField()
        assert field.prepare_value(STORED) == WRITTEN[language]
        assert field.clean(WRITTEN[language]) == STORED
        assert not field.has_changed(STORED, WRITTEN[language])
        assert WRITTEN[language] in str(field.help_text)


@pytest.mark.parametrize(
    ("language", "typed", "day"),
    [
        ("fr", "ma", "tu"),
        ("es", "ma", "tu"),
        ("de", "MI", "we"),
        ("es", "mi", "we"),
        ("de", "do", "th"),
        ("es", "do", "su"),
        ("de", "so", "su"),
        ("fr", "di", "su"),
        ("de", "Di", "tu"),
        ("es", "sa", "sa"),
        ("es", "sa\N{COMBINING ACUTE ACCENT}", "sa"),
        ("es", "mie.", "we"),
        ("fr", "mer.", "we"),
        ("de", "Samstag", "sa"),
        ("en-gb", "Tues", "tu"),
        ("fr", "we", "we"),
    ],
)
def test_a_weekday_is_that_of_the_pages_language(language: str, typed: str, day: str) -> None:
    with override(language):
        assert HoursField().clean(f"{typed} 9:00-18:00") == f"{day} 09:00-18:00"


@pytest.mark.parametrize(
    ("language", "typed"), [("fr", "mi"), ("en-gb", "lu"), ("de", "ma"), ("es", "so"), ("fr", "m")]
)
def test_a_weekday_of_another_language_is_refused_with_those_of_this_one(language: str, typed: str) -> None:
    with override(language), pytest.raises(ValidationError) as refused:
        HoursField().clean(f"{typed} 9:00-18:00")
    assert WRITTEN[language][:2] in refused.value.messages[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_english_weekday_means_another_day_and_each_own_one_is_read_again(language: str) -> None:
    with override(language):
        for day in WEEKDAYS:
            assert check_hours(read_hours(f"{day} 9:00-18:00")) == f"{day} 09:00-18:00"
            assert read_hours(write_hours(day)) == day


def test_what_was_typed_wrongly_stays_to_be_corrected() -> None:
    with override("de"):
        form = DeviceSettingsForm(Level.DEVICE, {}, None, {"hours": "Mo-Mx 9:00-18:00"})
        assert "Mo, Di, Mi, Do, Fr, Sa, So" in str(form.errors["hours"])
        assert 'value="Mo-Mx 9:00-18:00"' in str(form["hours"])


def test_a_device_and_the_audit_log_have_them_too() -> None:
    with override("fr"):
        assert show_setting("hours", STORED) == WRITTEN["fr"]
        assert WRITTEN["fr"] in write_changes({"hours": ("", STORED)})
        form = DeviceSettingsForm(Level.DEVICE, {"hours": "mo 09:00-12:00"}, None, {"hours": WRITTEN["fr"]})
        assert form.is_valid()
        assert form.settings["hours"] == STORED


@pytest.mark.django_db(transaction=True)
def test_settings_in_german_store_english(sign_in: SignIn, owner: Account) -> None:
    stream = create_stream("Tor", owner=owner, kind="enterprise").stream
    browser, german = sign_in(owner), {"accept-language": "de"}
    path = f"/streams/{stream.client_id}/settings/"
    form: SettingsForm = browser.get(path, headers=german).context["form"]
    values: dict[str, Any] = {name: form[name].value() for name in form.fields}
    posted = {name: value for name, value in values.items() if value not in (None, False)}
    assert browser.post(path, posted | {"hours": WRITTEN["de"]}, headers=german).status_code == 302
    stream.refresh_from_db()
    assert stream.hours == STORED
    assert f'value="{WRITTEN["de"]}"' in browser.get(path, headers=german).content.decode()
    assert WRITTEN["de"] in browser.get(f"/streams/{stream.client_id}/", headers=german).content.decode()


def test_changes_of_weekdays_and_roles_are_in_the_language_of_the_page() -> None:
    with override("de"):
        assert "Montag" in write_changes({"weekday": (0, 6)})
        assert "Betrachter" in write_changes({"default_role": ("", "viewer")})
