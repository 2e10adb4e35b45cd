"""`onlooker key`: a key from its creation to its end, at the command line."""

import json
import uuid
from typing import Any

import pytest
from click.testing import CliRunner, Result

from onlooker.audit.models import OrganisationEntry
from onlooker.cli import main
from onlooker.keys.keys import find_key, streams_of
from onlooker.keys.models import OrganisationKey
from onlooker.streams.models import Organisation, Site, Stream

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


def say(*arguments: Any) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def organisation() -> Organisation:
    say("stream", "create", "Door", "--owner", "ada@example.org")
    return Organisation.objects.get()


def test_a_key_from_its_beginning_to_its_end(organisation: Organisation) -> None:
    text = say("key", "create", "Wall", "--owner", "ada@example.org", "--scope", "numbers", "--scope", "manage").strip()
    key = OrganisationKey.objects.get()
    assert find_key(text) == key
    assert (key.scopes, key.reaches_all, key.expires_at, key.role) == (["numbers", "manage"], True, None, "manager")
    listed = say("key", "list")
    assert f"{text[:12]}…  live" in listed
    assert f"numbers,manage: Wall ({organisation})" in listed
    assert text not in listed
    assert "is revoked" in say("key", "revoke", key.pk)
    assert find_key(text) is None
    assert "Wall" not in say("key", "list")
    assert "revoked" in say("key", "list", "--ended", "--organisation", organisation.pk)
    refused = run("key", "revoke", key.pk)
    assert (refused.exit_code, "onlooker key list" in refused.output) == (1, True)
    actors = set(OrganisationEntry.objects.filter(action__startswith="key.").values_list("actor", flat=True))
    assert all(actor.startswith("command:") for actor in actors)


def test_a_limited_key_as_json(organisation: Organisation) -> None:
    stream, site = Stream.objects.get(), Site.objects.create(organisation=organisation, name="Quay")
    where = ("--organisation", organisation.pk, "--site", site.pk, "--stream", stream.client_id)
    said = json.loads(say("key", "create", "Player", *where, "--scope", "frames", "--days", 30, "--json"))
    key = find_key(said["key"])
    assert key
    assert (said["id"], said["sites"], said["streams"]) == (key.pk, [site.pk], [str(stream.client_id)])
    assert (said["reaches_all"], said["role"], said["beginning"]) == (False, "manager", said["key"][:12])
    assert list(streams_of(key)) == [stream]
    assert json.loads(say("key", "list", "--json"))["id"] == key.pk


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--site", 1_000_000), "There is no such site"),
        (("--stream", uuid.uuid4()), "no such stream"),
        (("--stream", "door"), "is a client_id"),
        (("--organisation", 1_000_000), "onlooker organisation list"),
        (("--scope", "all"), "'all' is not one of"),
    ],
)
def test_what_is_refused(organisation: Organisation, given: tuple[Any, ...], words: str) -> None:
    refused = run("key", "create", "Wall", "--owner", "ada@example.org", "--scope", "numbers", *given)
    assert refused.exit_code != 0
    assert words in refused.output
    assert not OrganisationKey.objects.exists()
