"""Sentences of notices and documents: each about a switch stands there exactly where the switch is on."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import product

import pytest
from django.conf import settings
from django.utils.translation import override

from onlooker.console.languages.locale_text import write_count, write_date, write_datetime
from onlooker.console.notices.assessment import write_assessment
from onlooker.console.notices.conformity import models_in_use, read_sheets
from onlooker.console.notices.facts import ComputedFacts, ControllerFacts, NoticeFacts
from onlooker.console.notices.models import LegalBasis
from onlooker.console.notices.notice_text import NoticeForm, write_notice
from onlooker.console.notices.paper import Paper
from onlooker.console.notices.record import write_record
from onlooker.console.notices.sentences import SENTENCES, say, say_when_deleted, write_hours
from onlooker_pipeline.catalogue import scene_analysis

LANGUAGES = [code for code, _ in settings.LANGUAGES]
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
    purpose_es="Saber cuántas personas se fijan en el escaparate.",
    legal_basis=LegalBasis.INTERESTS,
)
EACH_BASIS = [basis.value for basis in LegalBasis]


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    """The active one."""
    with override(request.param):
        yield request.param


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


def documents_of(computed: ComputedFacts, *, is_so: bool) -> str:
    """Record and draft."""
    record = write_record(facts(computed, ControllerFacts()), "x", is_https=is_so)
    draft = write_assessment(facts(computed, ControllerFacts()), "x", is_https=is_so, has_public_page=is_so)
    return f"{text_of(record)}\n{text_of(draft)}"


@pytest.mark.parametrize("form", NoticeForm)
def test_a_sentence_about_a_switch_appears_exactly_when_it_is_on(language: str, form: NoticeForm) -> None:
    for computed in every_setting():
        text = text_of(write_notice(facts(computed), form))
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
            "not_recognised": True,
        }
        assert {key: say(key) in text for key in expected} == expected, computed
        assert {days: say_when_deleted(days) in text for days in (1, 90)} == {
            days: computed.retention_days == days for days in (1, 90)
        }
        is_grouped = computed.groups_of > 1 and (age or gender or expression) and form is not NoticeForm.A6
        assert (say("told_in_groups", groups=5) in text) == is_grouped
        assert ("09:00-18:30" in text) == (bool(computed.hours) and form is not NoticeForm.A6)


@pytest.mark.parametrize("basis", EACH_BASIS)
def test_rights_follow_the_legal_basis(language: str, basis: str) -> None:
    controller = replace(CONTROLLER, legal_basis=basis)
    text = text_of(write_notice(facts(next(every_setting()), controller), NoticeForm.A4))
    assert (say("right_to_withdraw") in text) == (basis == LegalBasis.CONSENT)
    assert (say("right_to_object") in text) == (basis != LegalBasis.CONSENT)
    short = text_of(write_notice(facts(next(every_setting()), controller), NoticeForm.A6))
    assert (say("rights_short_consent") in short) == (basis == LegalBasis.CONSENT)
    assert (say("rights_short") in short) == (basis != LegalBasis.CONSENT)
    for one in (LegalBasis.INTERESTS, LegalBasis.TASK, LegalBasis.CONSENT):
        assert (say(f"basis_{one.value}") in text) == (basis == one)


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


def test_what_was_not_entered_is_a_blank_with_a_remark(language: str) -> None:
    computed = next(every_setting())
    for form in NoticeForm:
        empty = write_notice(facts(computed, ControllerFacts()), form)
        needed = ("purpose", "basis", "controller", "address", "contact")
        assert empty.blanks == tuple(say(f"blank_{name}") for name in needed)
        assert write_notice(facts(computed), form).blanks == ()


def test_a_record_asks_for_what_was_not_entered() -> None:
    record = write_record(facts(next(every_setting()), ControllerFacts()), "x", is_https=True)
    assert record.blanks[:2] == ("the controller's name", "the controller's address")


def test_the_purpose_is_the_one_in_the_documents_language(language: str) -> None:
    purpose = getattr(CONTROLLER, f"purpose_{language[:2]}")
    computed = next(every_setting())
    assert purpose in text_of(write_notice(facts(computed), NoticeForm.A4))
    assert purpose in text_of(write_record(facts(computed), "x", is_https=True))
    only_german = replace(ControllerFacts(), purpose_de="Zählen")
    assert "Zählen" in text_of(write_record(facts(computed, only_german), "x", is_https=True))
    assert ("Zählen" in text_of(write_notice(facts(computed, only_german), NoticeForm.A4))) == (language == "de")


def test_no_sentence_is_left_in_english(language: str) -> None:
    with override(settings.LANGUAGE_CODE):
        english = {key: str(sentence) for key, sentence in SENTENCES.items()}
    same_in_all = {"label_contact"}  # in French
    if language != settings.LANGUAGE_CODE:
        left = {key for key, sentence in SENTENCES.items() if str(sentence) == english[key]}
        assert left <= same_in_all
    assert len(say("weekdays").split()) == 7


@pytest.mark.parametrize(
    ("language", "first", "other", "moment", "count"),
    [
        ("en-gb", "1 March 2026", "15 August 2026", "1 March 2026, 09:30", "12,345"),
        ("fr", "1er mars 2026", "15 août 2026", "1er mars 2026, 09:30", "12\xa0345"),
        ("de", "1. März 2026", "15. August 2026", "1. März 2026, 09:30", "12.345"),
        ("es", "1 de marzo de 2026", "15 de agosto de 2026", "1 de marzo de 2026, 09:30", "12\xa0345"),
    ],
)
def test_dates_and_numbers_are_written_as_in_the_language(
    language: str, first: str, other: str, moment: str, count: str
) -> None:
    with override(language):
        assert write_date(date(2026, 3, 1)) == first
        assert write_date(date(2026, 8, 15)) == other
        assert write_datetime(datetime(2026, 3, 1, 9, 30, tzinfo=UTC)) == moment
        assert write_count(12345) == count


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


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en-gb", "Mon-Fri 09:00-18:30, Sun 22:00-24:00"),
        ("fr", "lun.-ven. 09:00-18:30, dim. 22:00-24:00"),
        ("de", "Mo-Fr 09:00-18:30, So 22:00-24:00"),
        ("es", "lun.-vie. 09:00-18:30, dom. 22:00-24:00"),
    ],
)
def test_opening_hours_are_written_with_the_languages_weekdays(language: str, written: str) -> None:
    with override(language):
        assert write_hours("mo-fr 09:00-18:30, su 22:00-24:00") == written


def test_groups_faces_and_hours_are_in_the_record() -> None:
    for computed in every_setting():
        record = text_of(write_record(facts(computed), "Front door", is_https=True))
        assert ("at least 5 people together" in record) == (computed.groups_of == 5)
        assert ("Faces are not looked for" in record) == (not computed.reads_faces)
        assert ("Mon-Fri 09:00-18:30" in record) == bool(computed.hours)


def test_records_and_drafts_have_no_english_line_in_other_languages(language: str) -> None:
    for computed, is_so in product(list(every_setting())[::7], (True, False)):
        with override(settings.LANGUAGE_CODE):
            english = set(documents_of(computed, is_so=is_so).splitlines())
        if language != settings.LANGUAGE_CODE:
            assert not english & set(documents_of(computed, is_so=is_so).splitlines())
