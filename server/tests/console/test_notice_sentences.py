"""Sentences of notices and documents: each about a switch stands there exactly where the switch is on."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import product
from string import Formatter

import pytest

from onlooker.console.notices.assessment import write_assessment
from onlooker.console.notices.conformity import models_in_use, read_sheets
from onlooker.console.notices.facts import ComputedFacts, ControllerFacts, NoticeFacts
from onlooker.console.notices.languages import (
    WORDINGS,
    Language,
    choose_language,
    say,
    write_date,
    write_hours,
    write_number,
)
from onlooker.console.notices.models import LegalBasis
from onlooker.console.notices.notice_text import NoticeForm, write_notice
from onlooker.console.notices.paper import Paper
from onlooker.console.notices.record import write_record
from onlooker_pipeline.catalogue import scene_analysis

SINCE = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
CONTROLLER = ControllerFacts(
    controller="Corner Shop Ltd",
    address="1 High Street, Dublin",
    contact="privacy@example.org",
    officer="officer@example.org",
    recipients="Example Hosting",
    place="Shop window",
    purpose_en="To find out how many people notice the window.",
    purpose_fr="Savoir combien de personnes remarquent la vitrine.",
    purpose_de="Herausfinden, wie viele Personen das Schaufenster bemerken.",
    legal_basis=LegalBasis.INTERESTS,
)
EACH_BASIS = [basis.value for basis in LegalBasis]


def every_setting() -> Iterator[ComputedFacts]:
    for enabled, age, gender, expression in product((True, False), repeat=4):
        for compute, days in product(("server", "device"), (1, 90)):
            usual = ComputedFacts(enabled, age, gender, expression, compute, days)
            yield usual
            yield replace(usual, reads_faces=False)
            yield replace(usual, groups_of=5, hours="mo-fr 09:00-18:30, su 22:00-24:00")


def switches_of(computed: ComputedFacts) -> tuple[bool, bool, bool]:
    return computed.reads_age, computed.reads_gender, computed.reads_expression


def text_of(paper: Paper) -> str:
    parts = [paper.title, paper.lead, paper.closing]
    for section in paper.sections:
        parts.append(section.title)
        parts += [f"{item.label} {item.text} {item.remark}" for item in section.items]
        parts += [" ".join(row) for table in section.tables for row in table.rows]
    return "\n".join(parts)


def facts(computed: ComputedFacts, controller: ControllerFacts = CONTROLLER) -> NoticeFacts:
    return NoticeFacts(computed, controller, SINCE)


@pytest.mark.parametrize("form", NoticeForm)
@pytest.mark.parametrize("language", Language)
def test_a_sentence_about_a_switch_appears_exactly_when_it_is_on(language: Language, form: NoticeForm) -> None:
    for computed in every_setting():
        text = text_of(write_notice(facts(computed), language, form))
        age, gender, expression = (is_on and computed.reads_faces for is_on in switches_of(computed))
        expected = {
            "computes_people": computed.reads_faces,
            "computes_bodies": not computed.reads_faces,
            "computes_age": age,
            "computes_gender": gender,
            "computes_expression": expression,
            "computes_nothing_else": not (age or gender or expression),
            "law_categorisation": (age or gender) and not expression,
            "law_emotion": expression and not (age or gender),
            "law_both": expression and (age or gender),
            "pictures_on_device": computed.compute == "device",
            "pictures_on_server": computed.compute == "server",
            "kept_one_day": computed.retention_days == 1,
            "not_recognised": True,
        }
        assert {key: say(language, key) in text for key in expected} == expected, computed
        assert (say(language, "kept_days", days=90) in text) == (computed.retention_days == 90)
        is_grouped = computed.groups_of > 1 and (age or gender or expression) and form is not NoticeForm.A6
        assert (say(language, "told_in_groups", groups=5) in text) == is_grouped
        assert ("09:00-18:30" in text) == (bool(computed.hours) and form is not NoticeForm.A6)


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("basis", EACH_BASIS)
def test_rights_follow_the_legal_basis(language: Language, basis: str) -> None:
    controller = replace(CONTROLLER, legal_basis=basis)
    text = text_of(write_notice(facts(next(every_setting()), controller), language, NoticeForm.A4))
    assert (say(language, "right_to_withdraw") in text) == (basis == LegalBasis.CONSENT)
    assert (say(language, "right_to_object") in text) == (basis != LegalBasis.CONSENT)
    short = text_of(write_notice(facts(next(every_setting()), controller), language, NoticeForm.A6))
    assert (say(language, "rights_short_consent") in short) == (basis == LegalBasis.CONSENT)
    assert (say(language, "rights_short") in short) == (basis != LegalBasis.CONSENT)
    for one in (LegalBasis.INTERESTS, LegalBasis.TASK, LegalBasis.CONSENT):
        assert (say(language, f"basis_{one.value}") in text) == (basis == one)


WORDS = {
    "reads_age": re.compile(r"\bage\b", re.IGNORECASE),
    "reads_gender": re.compile(r"\bgender\b", re.IGNORECASE),
    "reads_expression": re.compile(r"\b(expressions?|emotion)\b", re.IGNORECASE),
}
NOT_DONE = "no biometric categorisation and no emotion recognition"


@pytest.mark.parametrize("switch", WORDS)
def test_record_and_assessment_name_an_estimate_exactly_when_it_is_made(switch: str) -> None:
    for computed in every_setting():
        record = write_record(facts(computed), "Front door", is_https=True)
        draft = write_assessment(facts(computed), "Front door", is_https=True, has_public_page=True)
        for paper in (record, draft):
            found = WORDS[switch].search(text_of(paper).replace(NOT_DONE, ""))
            assert bool(found) == (computed.reads_faces and getattr(computed, switch)), f"{computed}: {found}"


def test_what_depends_on_the_place_of_computing_follows_it() -> None:
    for computed in every_setting():
        record = text_of(write_record(facts(computed), "Front door", is_https=True))
        draft = text_of(write_assessment(facts(computed), "Front door", is_https=False, has_public_page=False))
        assert ("Journal of the device" in record) == computed.is_on_device
        assert ("State of a session" in record) == (not computed.is_on_device)
        assert ("Pictures are intercepted" in draft) == (not computed.is_on_device)
        assert ("The device is stolen" in draft) == computed.is_on_device
        assert ("disabled: nothing is computed" in record) == (not computed.enabled)


@pytest.mark.parametrize("is_so", [True, False])
def test_https_and_the_public_page_are_told_as_they_are(is_so: bool) -> None:
    computed = next(every_setting())
    draft = text_of(write_assessment(facts(computed), "Front door", is_https=is_so, has_public_page=is_so))
    assert ("uses HTTPS" in draft) == is_so
    assert ("The public page is switched off." in draft) == (not is_so)


def test_the_draft_asks_about_work_and_school_only_where_expressions_are_read() -> None:
    for computed in every_setting():
        draft = text_of(write_assessment(facts(computed), "Front door", is_https=True, has_public_page=True))
        assert ("neither a workplace nor a school" in draft) == computed.estimates_expression
        assert ("article 5(1)(f)" in draft) == computed.estimates_expression
        assert ("Annex III, 1(b)" in draft) == computed.categorises


def test_what_was_not_entered_is_a_blank_with_a_remark() -> None:
    computed = next(every_setting())
    for language, form in product(Language, NoticeForm):
        empty = write_notice(facts(computed, ControllerFacts()), language, form)
        needed = ("purpose", "basis", "controller", "address", "contact")
        assert empty.blanks == tuple(say(language, f"blank_{name}") for name in needed)
        assert write_notice(facts(computed), language, form).blanks == ()
    assert write_record(facts(computed, ControllerFacts()), "x", is_https=True).blanks[:2] == (
        "the controller's name",
        "the controller's address",
    )


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", Language)
def test_every_language_has_every_sentence(language: Language) -> None:
    english, wording = WORDINGS[Language.ENGLISH], WORDINGS[language]
    assert set(wording) == set(english)
    assert [key for key, text in wording.items() if not text] == []
    assert {key: placeholders(text) for key, text in wording.items()} == {
        key: placeholders(text) for key, text in english.items()
    }
    assert len(wording["months"].split()) == 12


def test_no_sentence_was_left_in_english() -> None:
    same_in_all = {"thousands", "date", "date_first", "label_contact"}
    for language in (Language.FRENCH, Language.GERMAN):
        english, wording = WORDINGS[Language.ENGLISH], WORDINGS[language]
        assert [key for key in english if wording[key] == english[key] and key not in same_in_all] == []


@pytest.mark.parametrize(
    ("asked", "accepted", "language"),
    [
        ("", "", "en"),
        ("", "fr-CH, fr;q=0.9, en;q=0.8", "fr"),
        ("", "it, de;q=0.5, en;q=0.4", "de"),
        ("", "it", "en"),
        ("de", "fr", "de"),
        ("DE-at", "fr", "de"),
        ("xx", "fr", "fr"),
        ("", "x" * 5000, "en"),
        ("\0", ";;;q=,,", "en"),
    ],
)
def test_readers_get_the_language_that_they_understand(asked: str, accepted: str, language: str) -> None:
    assert choose_language(asked, accepted).value == language


def test_dates_and_numbers_are_written_as_in_the_language() -> None:
    first, other = date(2026, 3, 1), date(2026, 8, 15)
    assert [write_date(language, first) for language in Language] == ["1 March 2026", "1er mars 2026", "1. März 2026"]
    assert [write_date(language, other) for language in Language] == [
        "15 August 2026",
        "15 août 2026",
        "15. August 2026",
    ]
    assert [write_number(language, 12345) for language in Language] == ["12,345", "12\u202f345", "12.345"]


def test_there_is_a_sheet_for_each_model_that_a_stream_may_compute_with() -> None:
    assert set(scene_analysis.SERVICE.models) == set(read_sheets())
    for computed in every_setting():
        used = models_in_use(computed)
        assert ("face_detect" in used) == computed.reads_faces
        assert ("age" in used) == computed.estimates_age
        assert ("gender" in used) == computed.estimates_gender
        assert ("emotion_fa" in used) == ("emotion_mx" in used) == computed.estimates_expression
        assert "person_detect" in used


def test_sheets_say_what_was_measured_on_which_groups_and_where_it_fails() -> None:
    sheets = read_sheets()
    for name, sheet in sheets.items():
        assert sheet.figures.rows, name
        assert sheet.limits, name
        assert sheet.licence, name
    titles = ["Age", "Gender", "Ethnic group", "Ethnic group and gender, from 15 years on"]
    for name in ("age", "gender", "face_detect"):
        assert [table.title for table in sheets[name].groups] == titles
        assert all(len(row) == len(table.head) for table in sheets[name].groups for row in table.rows)


def test_opening_hours_are_written_with_the_languages_weekdays() -> None:
    hours = "mo-fr 09:00-18:30, su 22:00-24:00"
    assert write_hours(Language.ENGLISH, hours) == "Mon-Fri 09:00-18:30, Sun 22:00-24:00"
    assert write_hours(Language.GERMAN, hours) == "Mo-Fr 09:00-18:30, So 22:00-24:00"


def test_groups_faces_and_hours_are_in_the_record() -> None:
    for computed in every_setting():
        record = text_of(write_record(facts(computed), "Front door", is_https=True))
        assert ("at least 5 people together" in record) == (computed.groups_of == 5)
        assert ("Faces are not looked for" in record) == (not computed.reads_faces)
        assert ("Mon-Fri 09:00-18:30" in record) == bool(computed.hours)
