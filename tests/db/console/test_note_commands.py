"""`onlooker note` adds, lists and removes notes."""

import pytest
from click.testing import CliRunner, Result

from memberships import organisation_with, site_of
from onlooker.audit.models import OrganisationEntry
from onlooker.cli import main
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Note, Stream

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer").stream


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["note", *(str(word) for word in words)])


def test_notes_from_their_beginning_to_their_end(stream: Stream) -> None:
    organisation, site = organisation_with(stream), site_of(stream)
    assert run("add", organisation.pk, "2026-11-09", "Sale", "--last-day", "2026-11-13").exit_code == 0
    assert run("add", organisation.pk, "2026-11-10", "New window", "--stream", stream.client_id).exit_code == 0
    assert run("add", organisation.pk, "2026-11-11", "Holiday", "--site", site.pk).exit_code == 0
    first, second, third = Note.objects.order_by("pk")
    assert (first.stream, first.site, second.stream, third.site) == (None, None, stream, site)
    listed = run("list", organisation.pk).output
    assert f"{first.pk:6}  2026-11-09  2026-11-13  all, Sale" in listed
    assert "stream Front door, New window" in listed
    assert run("remove", first.pk).exit_code == 0
    assert not Note.objects.filter(pk=first.pk).exists()
    actors = OrganisationEntry.objects.filter(action__startswith="note.").values_list("actor", flat=True)
    assert all("command" in actor for actor in actors)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", 0, "2026-11-09", "Sale"), "There is no organisation 0"),
        (("add", "own", "2026-11-09", "two\nlines"), "A note is one line"),
        (("add", "own", "2026-11-09", "Sale", "--last-day", "2026-11-08"), "not before its first"),
        (("add", "own", "2026-11-09", "Sale", "--site", 0), "has no site 0"),
        (("remove", 0), "There is no note 0"),
    ],
)
def test_what_can_not_be_is_refused_with_a_remedy(stream: Stream, words: tuple[object, ...], sentence: str) -> None:
    said = run(*(stream.organisation_id if word == "own" else word for word in words))
    assert said.exit_code == 1
    assert sentence in said.output
    assert not Note.objects.exists()
