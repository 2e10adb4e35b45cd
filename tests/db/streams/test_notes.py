"""Notes on days: what is stored, for whom, how many, and what becomes of them."""

import json
import unicodedata
from datetime import date
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from memberships import organisation_with, share_stream, site_of
from onlooker.audit.models import OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.streams.access import visible_streams
from onlooker.console.streams.audit_log import describe_entries
from onlooker.streams import notes
from onlooker.streams.administration import create_stream, remove_stream
from onlooker.streams.models import LONGEST_NOTE, Note, Organisation, Stream
from onlooker.streams.notes import (
    BETWEEN,
    as_cell,
    change_note,
    check_text,
    create_note,
    notes_about,
    notes_of_stream,
    remove_note,
)
from onlooker.streams.organisations import RefusedError, organisation_of, remove_organisation
from onlooker.streams.sites import remove_site

pytest_plugins = ["pages"]

DAY, LATER = date(2026, 11, 9), date(2026, 11, 13)


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="developer").stream
    site_of(made)
    return made


@pytest.fixture
def three(stream: Stream) -> dict[str, Note]:
    """One of each reach, and others of which nobody of this stream may know."""
    organisation = organisation_with(stream)
    elsewhere = create_stream("Back door", organisation=organisation, kind="developer").stream
    create_note(organisation, "of another stream", DAY, about=elsewhere)
    create_note(organisation, "of another site", DAY, about=site_of(elsewhere))
    create_note(Organisation.objects.create(name="Others"), "of others", DAY)
    return {
        "stream": create_note(organisation, "of the stream", DAY, about=stream),
        "site": create_note(organisation, "of the site", DAY, about=site_of(stream)),
        "organisation": create_note(organisation, "of all", DAY, LATER),
    }


def test_a_stream_has_its_own_notes_those_of_its_site_and_of_its_organisation(
    stream: Stream, three: dict[str, Note], viewer: Account
) -> None:
    share_stream(stream, viewer)
    assert set(notes_of_stream(stream)) == set(three.values())
    assert set(notes_about(visible_streams(viewer))) == set(three.values())


def test_who_sees_no_stream_has_no_notes(three: dict[str, Note], stranger: Account) -> None:
    assert not notes_about(visible_streams(stranger)).exists()
    assert three


def test_a_stream_without_a_site_has_no_notes_of_sites(owner: Account, three: dict[str, Note]) -> None:
    alone = create_stream("Alone", owner=owner, kind="developer").stream
    assert list(notes_of_stream(alone)) == [three["organisation"]]


def test_an_organisation_has_so_many_notes_and_is_told_the_remedy(
    owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes, "NOTES_PER_ORGANISATION", 2)
    organisation = organisation_of(owner)
    first = create_note(organisation, "one", DAY)
    create_note(organisation, "two", DAY)
    with pytest.raises(RefusedError, match="Remove some"):
        create_note(organisation, "three", DAY)
    remove_note(first)
    create_note(organisation, "three", DAY)


@pytest.mark.parametrize(
    "text", ["", "  \n ", "\u200b", "x" * 121, "two\nlines", "nul\0", "turned\u202eback", "\ud800"]
)
def test_what_is_no_line_of_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^A note "):
        check_text(text)


@pytest.mark.parametrize(
    ("first", "last"), [(LATER, DAY), (date(1, 1, 1), DAY), (DAY, date(9999, 12, 31)), (date(1970, 12, 31), DAY)]
)
def test_days_are_in_order_and_of_this_age(owner: Account, first: date, last: date) -> None:
    with pytest.raises(ValueError, match="day"):
        create_note(organisation_of(owner), "never", first, last)
    assert not Note.objects.exists()


def test_the_database_itself_keeps_notes_in_order(stream: Stream, three: dict[str, Note]) -> None:
    note = three["stream"]
    for wrong in ({"site": site_of(stream)}, {"last_day": date(2026, 11, 8)}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Note.objects.filter(pk=note.pk).update(**wrong)
    foreign = Organisation.objects.create(name="Others").pk
    with pytest.raises(IntegrityError):
        hand_over(three["site"], foreign)


@transaction.atomic
def hand_over(note: Note, organisation_id: int) -> None:
    Note.objects.filter(pk=note.pk).update(organisation=organisation_id)
    connection.check_constraints()


def test_nobody_notes_what_is_of_another_organisation_or_being_removed(stream: Stream, owner: Account) -> None:
    others = Organisation.objects.create(name="Others")
    with pytest.raises(RefusedError, match="its own organisation"):
        create_note(others, "theirs", DAY, about=stream)
    with pytest.raises(RefusedError, match="its own organisation"):
        create_note(others, "theirs", DAY, about=site_of(stream))
    known = Stream.objects.get(pk=stream.pk)
    remove_stream(Stream.objects.get(pk=stream.pk))
    with pytest.raises(RefusedError, match="being removed"):
        create_note(organisation_of(owner), "too late", DAY, about=known)


def test_notes_go_with_their_stream_their_site_and_their_organisation(stream: Stream, three: dict[str, Note]) -> None:
    organisation = organisation_with(stream)
    site = site_of(stream)
    remove_stream(stream)
    assert not Note.objects.filter(pk=three["stream"].pk).exists()
    remove_site(site)
    assert not Note.objects.filter(pk=three["site"].pk).exists()
    assert Note.objects.filter(pk=three["organisation"].pk).exists()
    remove_organisation(organisation)
    assert [note.text for note in Note.objects.all()] == ["of others"]


def test_a_note_outlives_the_account_that_wrote_it(owner: Account, viewer: Account) -> None:
    note = create_note(organisation_of(owner), "stays", DAY, by=viewer)
    assert note.created_by == viewer
    viewer.delete()
    note.refresh_from_db()
    assert (note.text, note.created_by) == ("stays", None)


def entries() -> list[tuple[str, dict[str, Any]]]:
    rows = OrganisationEntry.objects.filter(action__startswith="note.").order_by("number")
    return [(row.action, json.loads(row.detail)) for row in rows]


def test_the_log_has_who_noted_which_days_and_never_the_text(stream: Stream, viewer: Account) -> None:
    secret = "Frau Müller im Urlaub"
    organisation = organisation_with(stream)
    note = create_note(organisation, secret, DAY, about=stream, by=viewer)
    change_note(note, {"last_day": LATER})
    change_note(note, {"text": f"{secret}!"})
    change_note(note, {})
    viewer.delete()
    remove_note(Note.objects.get(pk=note.pk))
    create_note(organisation, secret, DAY, about=site_of(stream))
    assert [action for action, _ in entries()] == [
        *("note.created", "note.changed", "note.changed", "note.removed", "note.created")
    ]
    assert secret not in json.dumps(entries(), ensure_ascii=False)
    rows = OrganisationEntry.objects.filter(action__startswith="note.").order_by("number")
    said = [entry.what for entry in describe_entries(rows, "UTC")]
    assert said == [
        f"Note {note.pk} for 9 November 2026 (stream Front door) written.",
        f"Note {note.pk} for 9 November 2026 to 13 November 2026 (stream Front door) changed: "
        "last day from 9 November 2026 to 13 November 2026.",
        f"Note {note.pk} for 9 November 2026 to 13 November 2026 (stream Front door) changed: another text.",
        f"Note {note.pk} for 9 November 2026 to 13 November 2026 (stream Front door) removed.",
        f"Note {Note.objects.get().pk} for 9 November 2026 (site Front door) written.",
    ]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\N{FULLWIDTH EQUALS SIGN}1+1"])
def test_no_spreadsheet_takes_a_note_for_a_formula(text: str) -> None:
    assert as_cell([text, "Sale"]) == f"'{text}{BETWEEN}Sale"
    assert as_cell(["Sale", text]) == f"Sale{BETWEEN}'{text}"
    assert as_cell([f"Sale;{text}"]) == f"Sale;'{text}"


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=130))
def test_any_other_text_is_stored_as_it_is(text: str) -> None:
    try:
        kept = check_text(text)
    except ValueError:
        return
    assert kept == unicodedata.normalize("NFC", text).strip()
    assert 0 < len(kept) <= LONGEST_NOTE
    assert kept.splitlines() == [kept]
