"""Notes by the management interface: what keys read and write, and what neither Password nor token opens."""

from datetime import date
from typing import Any

import pytest

from api_programs import ApiProgram, program_of
from memberships import organisation_with, site_of
from onlooker.console.accounts.models import Account
from onlooker.database_roles.grants import CONSOLE, GRANTS, PROCESSES
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream
from onlooker.streams.notes import create_note
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]

DAY = date(2026, 11, 9)
SALE = {"text": "Sale", "first_day": "2026-11-09"}


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="developer").stream
    site_of(made)
    return made


def texts(program: ApiProgram, query: str = "") -> list[str]:
    return [note["text"] for note in program.do("GET", f"notes{query}")["items"]]


def test_a_note_is_written_read_changed_and_removed(owner: Account, stream: Stream) -> None:
    manager = program_of(organisation_of(owner), "manage", role="manager")
    made = manager.do("POST", "notes", SALE | {"stream": str(stream.client_id)})
    expected = {"text": "Sale", "first_day": "2026-11-09", "last_day": "2026-11-09", "site": None}
    assert made | expected | {"stream": str(stream.client_id)} == made
    path = f"notes/{made['id']}"
    assert manager.do("GET", path) == made
    assert manager.do("PATCH", path, {"last_day": "2026-11-13"})["last_day"] == "2026-11-13"
    assert manager.do("POST", "notes", SALE | {"site": stream.site_id, "last_day": "2026-11-10"})["stream"] is None
    assert manager.do("POST", "notes", SALE)["site"] is None
    assert manager.send("DELETE", path).status_code == 204
    assert texts(manager) == ["Sale", "Sale"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": ""},
        {"text": "x" * 121},
        {"text": "two\nlines"},
        {"text": " "},
        {"first_day": "9 November"},
        {"first_day": "0001-01-01"},
        {"last_day": "2026-11-08"},
        {"last_day": "9999-12-31"},
        {"site": 2**62},
        {"stream": "11111111-1111-1111-1111-111111111111"},
        {"author": "me"},
    ],
)
def test_what_can_not_be_is_refused(owner: Account, wrong: dict[str, Any]) -> None:
    manager = program_of(organisation_of(owner), "manage")
    assert manager.refusal("POST", "notes", SALE | wrong) == (400, "bad_request")
    assert texts(manager) == []


def test_a_note_is_about_one_thing(owner: Account, stream: Stream) -> None:
    manager = program_of(organisation_of(owner), "manage")
    both = {"stream": str(stream.client_id), "site": stream.site_id}
    assert manager.refusal("POST", "notes", SALE | both) == (400, "bad_request")


def test_notes_are_found_by_stream_site_and_day(owner: Account, stream: Stream) -> None:
    organisation = organisation_with(stream)
    other = create_stream("Back door", owner=owner, kind="developer").stream
    create_note(organisation, "of all", DAY, date(2026, 11, 20))
    create_note(organisation, "of the site", DAY, about=site_of(stream))
    create_note(organisation, "of the stream", date(2026, 11, 15), about=stream)
    create_note(organisation, "of another", DAY, about=other)
    reader = program_of(organisation, "numbers")
    assert texts(reader, f"?stream={stream.client_id}") == ["of all", "of the site", "of the stream"]
    assert texts(reader, f"?site={stream.site_id}") == ["of the site"]
    assert texts(reader, "?from_date=2026-11-10&to_date=2026-11-14") == ["of all"]
    assert texts(reader, "?from_date=2026-11-15") == ["of all", "of the stream"]


def test_a_key_for_some_streams_reads_what_concerns_them_and_changes_its_own(owner: Account, stream: Stream) -> None:
    organisation = organisation_with(stream)
    other = create_stream("Back door", owner=owner, kind="developer").stream
    whole = create_note(organisation, "of all", DAY)
    of_site = create_note(organisation, "of the site", DAY, about=site_of(stream))
    create_note(organisation, "of another", DAY, about=other)
    by_stream = program_of(organisation, "manage", streams=[stream])
    by_site = program_of(organisation, "manage", sites=[site_of(stream)])
    assert texts(by_stream) == texts(by_site) == ["of all", "of the site"]
    assert by_stream.refusal("PATCH", f"notes/{whole.pk}", {"text": "mine"}) == (403, "forbidden")
    assert by_stream.refusal("DELETE", f"notes/{of_site.pk}") == (403, "forbidden")
    assert by_site.do("PATCH", f"notes/{of_site.pk}", {"text": "changed"})["text"] == "changed"
    assert by_stream.refusal("POST", "notes", SALE) == (403, "forbidden")
    assert by_stream.do("POST", "notes", SALE | {"stream": str(stream.client_id)})["text"] == "Sale"


def test_no_process_but_the_console_reads_notes() -> None:
    """So neither a Password nor a token of the data endpoint can."""
    assert [process for process in PROCESSES if "streams_note" in GRANTS.get(process, {})] == [CONSOLE]
