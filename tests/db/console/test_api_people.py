"""Members, invitations, keys and the organisation by the management interface: nobody gives more than they have."""

from datetime import timedelta

import pytest

from api_programs import ApiProgram, program_of
from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.members.models import Invitation
from onlooker.keys.keys import create_key
from onlooker.streams.administration import create_stream
from onlooker.streams.models import MemberRole, Membership, Organisation, Site
from onlooker.streams.organisations import organisation_of
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]


@pytest.fixture
def organisation(owner: Account) -> Organisation:
    return organisation_of(owner)


@pytest.fixture
def manager(organisation: Organisation) -> ApiProgram:
    return program_of(organisation, "manage", role="manager")


@pytest.fixture
def boss(organisation: Organisation) -> ApiProgram:
    return program_of(organisation, "manage", "numbers")


def test_owners_rename_the_organisation(boss: ApiProgram, organisation: Organisation) -> None:
    assert boss.do("PATCH", "organisation", {"name": "Shops"})["name"] == "Shops"
    told = boss.do("GET", "organisation")
    assert (told["id"], told["name"], told["members"], told["streams"]) == (organisation.pk, "Shops", 1, 0)


def test_a_second_factor_is_required_only_by_somebody_who_has_one(boss: ApiProgram) -> None:
    assert boss.refusal("PATCH", "organisation", {"requires_second_factor": True}) == (409, "conflict")


def test_people_are_invited_by_mail(manager: ApiProgram, organisation: Organisation, mailbox: Mailbox) -> None:
    site = Site.objects.create(organisation=organisation, name="Lyon")
    body = {"emails": ["One@example.org", "two@example.org"], "role": "viewer", "sites": [site.pk]}
    told = manager.do("POST", "invitations", body)
    assert told == {"invited": ["one@example.org", "two@example.org"], "refused": []}
    assert len(mailbox.mails) == 2
    listed = manager.do("GET", "invitations")["items"]
    assert [(one["email"], one["role"], one["sites"]) for one in listed]
    assert {one["email"] for one in listed} == {"one@example.org", "two@example.org"}
    assert manager.refusal("POST", "invitations", body) == (409, "conflict")
    assert manager.send("DELETE", f"invitations/{listed[0]['id']}").status_code == 204
    assert Invitation.objects.count() == 1


def test_a_managers_key_neither_makes_nor_changes_owners_and_managers(
    manager: ApiProgram, boss: ApiProgram, organisation: Organisation, viewer: Account, stranger: Account
) -> None:
    stream = create_stream("Window", organisation=organisation, kind="developer").stream
    below, above = share_stream(stream, viewer), share_stream(stream, stranger, MemberRole.MANAGER)
    assert manager.refusal("PATCH", f"members/{below.pk}", {"role": "manager"}) == (403, "forbidden")
    assert manager.refusal("DELETE", f"members/{above.pk}") == (403, "forbidden")
    assert manager.refusal("POST", "invitations", {"emails": ["a@example.org"], "role": "owner"}) == (403, "forbidden")
    assert manager.do("PATCH", f"members/{below.pk}", {"role": "analyst"})["role"] == "analyst"
    assert manager.refusal("PATCH", f"members/{below.pk}", {"role": "viewer"}) == (400, "bad_request")
    assert boss.do("PATCH", f"members/{above.pk}", {"role": "owner"})["role"] == "owner"
    assert manager.send("DELETE", f"members/{below.pk}").status_code == 204


def test_the_last_owner_stays(boss: ApiProgram, organisation: Organisation) -> None:
    last = Membership.objects.get(organisation=organisation)
    assert boss.refusal("DELETE", f"members/{last.pk}") == (409, "conflict")
    assert boss.refusal("PATCH", f"members/{last.pk}", {"role": "analyst"}) == (409, "conflict")


def test_a_key_creates_none_that_could_do_more(manager: ApiProgram, boss: ApiProgram) -> None:
    def wants(**more: object) -> dict[str, object]:
        return {"name": "New", "scopes": ["manage"]} | more

    assert manager.refusal("POST", "keys", wants(scopes=["manage", "numbers"])) == (409, "conflict")
    assert manager.refusal("POST", "keys", wants(role="owner")) == (409, "conflict")
    told = boss.do("POST", "keys", wants(scopes=["numbers"], life_days=1))
    assert (told["key"]["scopes"], told["key"]["role"], told["key"]["reaches_all"]) == (["numbers"], "manager", True)
    assert told["text"].startswith(told["key"]["beginning"])
    assert ApiProgram(told["text"]).do("GET", "streams") == {"items": [], "next": None}
    assert boss.send("DELETE", f"keys/{told['key']['id']}").status_code == 204
    assert ApiProgram(told["text"]).refusal("GET", "streams") == (401, "invalid_key")


def test_a_key_that_ends_creates_none_that_lives_longer(organisation: Organisation) -> None:
    made = create_key(organisation, "Short", ["manage"], life=timedelta(days=1))
    short = ApiProgram(made.text)
    assert short.refusal("POST", "keys", {"name": "Long", "scopes": ["manage"]}) == (409, "conflict")
    short.do("POST", "keys", {"name": "Shorter", "scopes": ["manage"], "life_days": 0.5})


def test_a_managers_key_revokes_no_owners_key(manager: ApiProgram, boss: ApiProgram) -> None:
    owners = next(one for one in boss.do("GET", "keys")["items"] if one["role"] == "owner")
    assert manager.refusal("DELETE", f"keys/{owners['id']}") == (403, "forbidden")
    assert "text" not in owners
