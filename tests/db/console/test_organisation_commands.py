"""`onlooker organisation`, and streams that are created at or moved to one of its sites."""

import re
from typing import Any

import pytest
from click.testing import CliRunner, Result

from onlooker.audit.models import OrganisationEntry
from onlooker.cli import main
from onlooker.console.accounts.models import Account
from onlooker.streams.models import Membership, Organisation, Site, Stream

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


def say(*arguments: Any) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_an_organisation_from_its_beginning_to_its_end() -> None:
    made = say("organisation", "create", "Museum", "--owner", "Ada@example.org")
    number = int(re.findall(r"\d+", made)[0])
    say("organisation", "set", number, "--name", "Lamps", "--second-factor")
    assert Organisation.objects.get().requires_second_factor
    site = int(re.findall(r"\d+", say("organisation", "site", number, "Quay", "--hours", "mo-fr 09:00-18:00"))[0])
    assert "Quay" in say("organisation", "sites", number)
    say("organisation", "member", number, "ben@example.org", "--role", "viewer", "--site", site)
    assert "viewer    ben@example.org  Quay" in say("organisation", "members", number)
    say("stream", "create", "Entrance", "--organisation", number, "--site", site)
    stream = Stream.objects.get()
    assert (stream.organisation_id, stream.site_id) == (number, site)
    assert "Lamps, Quay, Entrance" in say("stream", "list")
    assert "Lamps (ada@example.org)" in say("organisation", "list")
    say("organisation", "member", number, "ben@example.org", "--role", "owner")
    say("organisation", "remove-member", number, "ada@example.org")
    refused = run("organisation", "remove-member", number, "ben@example.org")
    assert (refused.exit_code, "needs an owner" in refused.output) == (1, True)
    actors = set(OrganisationEntry.objects.values_list("actor", flat=True))
    assert all(actor.startswith("command:") for actor in actors)
    assert "unbroken" in say("audit", "check")
    assert '"stream_id": -' in say("audit", "export", "--organisation", number)
    say("organisation", "remove", number, "--yes")
    stream.refresh_from_db()
    assert (stream.organisation, Organisation.objects.count(), Account.objects.count()) == (None, 0, 2)


def test_a_stream_moves() -> None:
    say("stream", "create", "Entrance", "--owner", "ada@example.org")
    stream = Stream.objects.get()
    other = Organisation.objects.create(name="Other")
    site = Site.objects.create(organisation=other, name="Quay")
    refused = run("stream", "set", stream.client_id, "--site", site.pk)
    assert (refused.exit_code, "has no site" in refused.output) == (1, True)
    assert run("stream", "set", stream.client_id, "--organisation", 0).exit_code == 1
    say("stream", "set", stream.client_id, "--organisation", other.pk, "--site", site.pk)
    stream.refresh_from_db()
    assert (stream.organisation, stream.site) == (other, site)
    say("stream", "set", stream.client_id, "--site", 0)
    say("stream", "set", stream.client_id, "--organisation", Membership.objects.get().organisation_id)
    stream.refresh_from_db()
    assert (stream.organisation_id, stream.site) == (Membership.objects.get().organisation_id, None)


@pytest.mark.parametrize(
    "arguments",
    [
        ("organisation", "set", 99, "--name", "x"),
        ("organisation", "set", 99),
        ("organisation", "members", 99),
        ("organisation", "remove-member", 99, "a@example.org"),
        ("organisation", "member", 99, "a@example.org", "--role", "boss"),
        ("audit", "export"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(arguments: tuple[Any, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code in (1, 2)
    assert "Traceback" not in result.output
