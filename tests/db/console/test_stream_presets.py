"""Presets asked for when a stream is created: what each sets, what it needs, and where it is refused."""

from collections.abc import Callable

import pytest
from django.test import Client

from forms import fields_of
from onlooker.console.accounts.models import Account
from onlooker.streams.models import OpeningHours, Stream
from onlooker.streams.presets import (
    EXPRESSION_FORBIDDEN,
    NOTICE_MISSING,
    NOTICE_SENTENCE,
    CameraPlace,
    Preset,
    check_preset,
    preset_of,
    preset_settings,
)

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
READS = ("reads_faces", "reads_age", "reads_gender", "reads_expression", "retention_days", "groups_of")
ASKED = {"name": "Door", "time_zone": "UTC", "kind": "enterprise", "place": "public"}


def make(browser: Client, **chosen: str) -> str:
    return browser.post("/streams/new/", ASKED | chosen).content.decode()


def made() -> tuple[object, ...]:
    stream = Stream.objects.get()
    return tuple(getattr(stream, name) for name in READS)


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("counts", (False, False, False, False, 90, 1)),
        ("audience", (True, True, True, False, 90, 5)),
        ("everything", (True, True, True, True, 90, 5)),
        ("own", (True, True, True, False, 365, 1)),
    ],
)
@pytest.mark.django_db
def test_each_preset_sets_what_it_says(
    sign_in: SignIn, owner: Account, preset: str, expected: tuple[object, ...]
) -> None:
    assert "Stream created" in make(sign_in(owner), preset=preset, notice_given="on")
    assert made() == expected
    assert preset_of(Stream.objects.get()) == preset


@pytest.mark.django_db
def test_audience_is_preselected_and_the_place_is_not(sign_in: SignIn, owner: Account) -> None:
    answer = sign_in(owner).get("/streams/new/")
    fields = fields_of(answer)
    assert fields["preset"] == "audience"
    assert "place" not in fields
    assert NOTICE_SENTENCE in answer.content.decode()
    assert "Annex III 1(b)" in NOTICE_SENTENCE


@pytest.mark.parametrize("preset", ["audience", "everything"])
@pytest.mark.django_db
def test_without_the_tick_about_notice_nothing_is_created(sign_in: SignIn, owner: Account, preset: str) -> None:
    assert NOTICE_MISSING in make(sign_in(owner), preset=preset)
    assert not Stream.objects.exists()


@pytest.mark.parametrize("preset", ["counts", "own"])
@pytest.mark.django_db
def test_others_need_no_tick(sign_in: SignIn, owner: Account, preset: str) -> None:
    assert "Stream created" in make(sign_in(owner), preset=preset)
    assert Stream.objects.get().notice_given_at is None


@pytest.mark.django_db
def test_the_tick_is_kept_with_its_moment(sign_in: SignIn, owner: Account) -> None:
    make(sign_in(owner), preset="audience", notice_given="on")
    assert Stream.objects.get().notice_given_at is not None


@pytest.mark.parametrize("place", ["workplace", "school"])
@pytest.mark.django_db
def test_everything_is_refused_at_work_and_in_a_school(sign_in: SignIn, owner: Account, place: str) -> None:
    browser = sign_in(owner)
    assert "art. 5(1)(f)" in make(browser, preset="everything", place=place, notice_given="on")
    assert not Stream.objects.exists()
    make(browser, preset="audience", place=place, notice_given="on")
    stream = Stream.objects.get()
    settings = f"/streams/{stream.client_id}/settings/"
    browser.post(settings, fields_of(browser.get(settings)) | {"reads_expression": "on"})
    stream.refresh_from_db()
    assert not stream.reads_expression


@pytest.mark.django_db
def test_a_place_is_asked_for(sign_in: SignIn, owner: Account) -> None:
    assert "errorlist" in make(sign_in(owner), preset="counts", place="")
    assert not Stream.objects.exists()


@pytest.mark.django_db
def test_what_are_no_opening_hours_is_said(sign_in: SignIn, owner: Account) -> None:
    assert "quarter of an hour" in make(sign_in(owner), preset="counts", hours="mo 09:07-18:00")
    assert not Stream.objects.exists()


def test_counts_only_reads_nothing_of_faces_whatever_else_is_said() -> None:
    assert not any(value for name, value in preset_settings(Preset.COUNTS).items() if name.startswith("reads_"))


def test_the_law_comes_before_the_notice() -> None:
    assert check_preset(Preset.EVERYTHING, CameraPlace.SCHOOL, is_notice_given=False) == EXPRESSION_FORBIDDEN
    assert check_preset(Preset.EVERYTHING, CameraPlace.PUBLIC, is_notice_given=True) == ""


@pytest.mark.django_db
def test_opening_hours_are_kept_as_they_are_meant_with_their_history(sign_in: SignIn, owner: Account) -> None:
    browser = sign_in(owner)
    make(browser, preset="counts", hours="Mo - Fr 9:00-18:30,sa 10:00-16:00")
    stream = Stream.objects.get()
    assert stream.hours == "mo-fr 09:00-18:30, sa 10:00-16:00"
    settings = f"/streams/{stream.client_id}/settings/"
    browser.post(settings, fields_of(browser.get(settings)) | {"time_zone": "Europe/Paris"})
    browser.post(settings, fields_of(browser.get(settings)) | {"hours": ""})
    versions = OpeningHours.objects.order_by("since_at").values_list("hours", "time_zone")
    assert list(versions) == [(stream.hours, "UTC"), (stream.hours, "Europe/Paris"), ("", "Europe/Paris")]
    stream.refresh_from_db()
    assert (stream.hours, stream.hours_since) == ("", None)
