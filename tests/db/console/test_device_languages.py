"""Pages of devices and comparisons in other languages: numbers are written otherwise, what programs read is not."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone, translation

from device_reports import device_of, report, report_day
from onlooker.console.accounts.models import Account
from onlooker.console.devices.settings_form import DeviceSettingsForm, show_setting
from onlooker.console.languages.locale_text import translate
from onlooker.devices.configuration import set_device_settings
from onlooker.devices.device_settings import Level
from onlooker.sentences import Sentence
from onlooker.streams.administration import create_stream
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]
LANGUAGES = [code for code, _ in settings.LANGUAGES]
SignIn = Callable[[Account | None], Client]


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """A request leaves its language to what comes after it in the same thread."""
    with translation.override(settings.LANGUAGE_CODE):
        yield


def machine_values(browser: Client, path: str, language: str) -> list[str]:
    """What programs read of a page: addresses, ids, values, data."""
    answer = browser.get(path, headers={"accept-language": language})
    assert answer.status_code == 200
    page = answer.content.decode()
    assert f'<html lang="{language}">' in page
    found = re.findall(r'\s(?:id|href|value|datetime|class|step|data-(?!label)[\w-]+)="[^"]*"', page)
    return [one for one in found if "csrf" not in one and "words" not in one and len(one) < 500]


def without_tokens(values: list[str]) -> list[str]:
    """Each page has another token against forged requests."""
    return [value for value in values if not re.fullmatch(r'\svalue="[A-Za-z0-9]{64}"', value)]


def test_settings_are_written_and_refused_with_the_readers_numbers() -> None:
    assert show_setting("fps", 0.5) == "0.5"
    form = DeviceSettingsForm(Level.DEVICE, {}, None, {"fps": "500"})
    assert form.errors["fps"] == ["Must be 0.2 to 30."]
    with translation.override("fr"):
        assert show_setting("fps", 0.5) == "0,5"
        form = DeviceSettingsForm(Level.DEVICE, {}, None, {"fps": "500"})
        [said] = form.errors["fps"]
        assert "0,2" in said
        assert DeviceSettingsForm(Level.DEVICE, {}, None, {"fps": "0.5"}).is_valid(), "browsers send a point"


@pytest.mark.parametrize(("code", "written"), [("en-gb", "1,234 of 0.5"), ("de", "1.234 of 0,5")])
def test_numbers_in_sentences_are_written_by_language(code: str, written: str) -> None:
    said = Sentence("{count:,} of {share}", count=1234, share=0.5)
    assert said == "1,234 of 0.5"
    with translation.override(code):
        assert translate(said) == written


@pytest.mark.django_db(transaction=True)
def test_what_programs_read_is_the_same_in_all_languages(sign_in: SignIn, owner: Account) -> None:
    organisation_of(owner)
    device, key = device_of(owner)
    report(key)
    report_day(device, now=timezone.now() - timedelta(minutes=5), minutes=60)
    set_device_settings(device, {"fps": 0.5}, by="test")
    streams = [create_stream(name, owner=owner, kind="enterprise").stream for name in ("One", "Two")]
    rows = "&".join(f"row=stream:{stream.client_id}" for stream in streams)
    page = f"/devices/{device.device_id}/"
    browser = sign_in(owner)
    paths = ("/devices/", "/devices/fleet/", page, f"{page}settings/", f"/streams/compare/?{rows}")
    for path in paths:
        found = {language: machine_values(browser, path, language) for language in LANGUAGES}
        for language in LANGUAGES:
            assert without_tokens(found[language]) == without_tokens(found["en-gb"]), (path, language)
