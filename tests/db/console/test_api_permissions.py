"""Every operation of the management interface against every kind of key: who is let in, and what others are told."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone

from api_programs import ALL_SCOPES, ApiProgram, program_of
from console_people import make_account
from enrolments import code_of
from memberships import invite_to, share_stream, site_of
from onlooker.console.accounts.models import Account
from onlooker.console.api.operation import Operation
from onlooker.console.api.operations import OPERATIONS
from onlooker.console.webhooks.endpoints import create_endpoint, send_test
from onlooker.devices.models import Device
from onlooker.keys.keys import create_key, revoke_key
from onlooker.keys.models import OrganisationKey
from onlooker.streams.administration import NewStream, create_stream
from onlooker.streams.models import MemberRole, Organisation, Stream
from onlooker.streams.notes import create_note
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]

CALLERS = (
    *("nobody", "unknown", "expired", "revoked", "Password", "removed organisation"),
    *("frames", "numbers", "enrol", "manager", "owner", "limited", "elsewhere", "other organisation"),
)
"""`frames`, `numbers` and `enrol` have that scope alone, `manager` and `owner` manage; the last three have all scopes
and act as owner, but reach the site of the stream alone, another site alone, or another organisation."""
IN, KEY, SCOPE, LIMIT, MISSING, NAMED = "let in", "401", "missing_scope", "forbidden", "not_found", "bad_request"
"""The last one: the body names what the key does not reach."""
NO_KEY = (KEY,) * 6
NOTED = date(2026, 11, 9)


def row(scopes: str, *, limited: str = IN, elsewhere: str = IN, other: str = IN, manager: str = IN) -> tuple[str, ...]:
    """Of an operation that keys with these scopes may do; then what those are told who reach something else."""
    by_scope = [IN if name in scopes.split() else SCOPE for name in ("frames", "numbers", "enrol")]
    manages = "manage" in scopes.split()
    managers = (manager, IN) if manages else (SCOPE, SCOPE)
    return (*NO_KEY, *by_scope, *managers, limited, elsewhere, other)


WHOLE = row("manage", limited=LIMIT, elsewhere=LIMIT)
"""Of the organisation: a list of the key's own."""
WHOLE_ONE = row("manage", limited=LIMIT, elsewhere=LIMIT, other=MISSING)
OWNERS = row("manage", limited=LIMIT, elsewhere=LIMIT, manager=LIMIT)
ONE = row("manage", elsewhere=MISSING, other=MISSING)
"""A stream, or what belongs to it."""
NAMING = row("manage", elsewhere=NAMED, other=NAMED)

MATRIX = {
    "GET organisation": WHOLE,
    "PATCH organisation": OWNERS,
    "GET addresses": (*NO_KEY, *(IN,) * 8),
    "GET tags": row("manage numbers"),
    "GET streams": row("manage numbers"),
    "POST streams": NAMING,
    "POST streams/bulk": NAMING,
    "GET streams/<uuid:client_id>": row("manage numbers", elsewhere=MISSING, other=MISSING),
    "PATCH streams/<uuid:client_id>": ONE,
    "DELETE streams/<uuid:client_id>": ONE,
    "POST streams/<uuid:client_id>/access-token": ONE,
    "GET sites": row("manage numbers enrol"),
    "POST sites": WHOLE,
    "GET sites/<int:site_id>": row("manage numbers enrol", elsewhere=MISSING, other=MISSING),
    "PATCH sites/<int:site_id>": ONE,
    "DELETE sites/<int:site_id>": WHOLE_ONE,
    "GET templates": row("manage enrol"),
    "POST templates": WHOLE,
    "GET templates/<int:template_id>": row("manage enrol", other=MISSING),
    "PATCH templates/<int:template_id>": WHOLE_ONE,
    "DELETE templates/<int:template_id>": WHOLE_ONE,
    "GET enrolment-codes": row("manage enrol"),
    "POST enrolment-codes": row("manage enrol", elsewhere=NAMED, other=NAMED),
    "GET enrolment-codes/<int:code_id>": row("manage enrol", elsewhere=MISSING, other=MISSING),
    "POST enrolment-codes/<int:code_id>/end": row("manage enrol", elsewhere=MISSING, other=MISSING),
    "DELETE enrolment-codes/<int:code_id>": row("manage enrol", elsewhere=MISSING, other=MISSING),
    "GET devices": row("manage enrol"),
    "GET devices/<uuid:device_id>": row("manage enrol", elsewhere=MISSING, other=MISSING),
    "POST devices/<uuid:device_id>/revoke": ONE,
    "POST devices/<uuid:device_id>/replacement": row("manage enrol", elsewhere=MISSING, other=MISSING),
    "PATCH devices/<uuid:device_id>": ONE,
    "GET devices/<uuid:device_id>/configuration": ONE,
    "POST devices/<uuid:device_id>/configuration/again": ONE,
    "GET devices/<uuid:device_id>/health": ONE,
    "POST device-configurations": NAMING,
    "GET webhooks": WHOLE,
    "POST webhooks": WHOLE,
    "GET webhooks/<int:webhook_id>": WHOLE_ONE,
    "PATCH webhooks/<int:webhook_id>": WHOLE_ONE,
    "DELETE webhooks/<int:webhook_id>": WHOLE_ONE,
    "POST webhooks/<int:webhook_id>/test": WHOLE_ONE,
    "POST webhooks/<int:webhook_id>/secret": WHOLE_ONE,
    "GET webhooks/<int:webhook_id>/deliveries": WHOLE_ONE,
    "POST webhooks/<int:webhook_id>/deliveries/<int:delivery_id>/replay": WHOLE_ONE,
    "GET members": WHOLE,
    "GET members/<int:member_id>": WHOLE_ONE,
    "PATCH members/<int:member_id>": WHOLE_ONE,
    "DELETE members/<int:member_id>": WHOLE_ONE,
    "GET invitations": WHOLE,
    "POST invitations": row("manage", limited=LIMIT, elsewhere=LIMIT, other=NAMED),
    "DELETE invitations/<uuid:invitation_id>": WHOLE_ONE,
    "GET keys": WHOLE,
    "POST keys": WHOLE,
    "GET keys/<int:key_id>": WHOLE_ONE,
    "DELETE keys/<int:key_id>": WHOLE_ONE,
    "GET numbers": row("numbers"),
    "GET notes": row("manage numbers"),
    "POST notes": NAMING,
    "GET notes/<int:note_id>": row("manage numbers", elsewhere=MISSING, other=MISSING),
    "PATCH notes/<int:note_id>": ONE,
    "DELETE notes/<int:note_id>": ONE,
}


@dataclass(frozen=True)
class ApiWorld:
    """An organisation with one of each, and keys of all kinds."""

    created: NewStream
    paths: dict[str, str]
    bodies: dict[str, Any]
    programs: dict[str, ApiProgram]

    @property
    def stream(self) -> Stream:
        return self.created.stream

    def send(self, caller: str, operation: Operation) -> HttpResponse:
        path = re.sub(r"<\w+:(\w+)>", lambda found: self.paths[found[1]], operation.path)
        body = self.bodies.get(f"{operation.method} {operation.path}", {} if operation.method != "GET" else None)
        return self.programs[caller].send(operation.method, path, body)


def ended(organisation: Organisation, end: Callable[[OrganisationKey], object]) -> ApiProgram:
    made = create_key(organisation, "Past", ALL_SCOPES, role=MemberRole.OWNER)
    end(made.key)
    return ApiProgram(made.text)


def expire(key: OrganisationKey) -> None:
    key.expires_at = timezone.now() - timedelta(seconds=1)
    key.save(update_fields=["expires_at"])


def make_programs(created: NewStream, other_place: Stream, boss: Account) -> dict[str, ApiProgram]:
    organisation = created.stream.organisation
    assert organisation
    ownerless = Organisation.objects.create(name="Nobody's")
    return {
        "nobody": ApiProgram(),
        "unknown": ApiProgram("onl_" + "x" * 43),
        "expired": ended(organisation, expire),
        "revoked": ended(organisation, revoke_key),
        "Password": ApiProgram(created.access_token),
        "removed organisation": program_of(ownerless),
        **{scope: program_of(organisation, scope) for scope in ("frames", "numbers", "enrol")},
        "manager": program_of(organisation, "manage", role=MemberRole.MANAGER),
        "owner": program_of(organisation, "manage"),
        "limited": program_of(organisation, sites=[site_of(created.stream)]),
        "elsewhere": program_of(organisation, sites=[site_of(other_place)]),
        "other organisation": program_of(organisation_of(boss)),
    }


@pytest.fixture
def api_world(owner: Account, stranger: Account) -> ApiWorld:
    created = create_stream("Front door", owner=owner, kind="developer")
    stream = created.stream
    other_place = create_stream("Back door", owner=owner, kind="developer").stream
    site = site_of(stream)
    code = code_of(owner, site=site).code
    device = Device.objects.create(stream=stream, code=code, key_sha256=bytes(32))
    create_stream("Theirs", owner=stranger, kind="developer")
    code_of(stranger)
    paths = {
        "client_id": str(stream.client_id),
        "site_id": str(site.pk),
        "template_id": str(code.template_id),
        "code_id": str(code.pk),
        "device_id": str(device.device_id),
        "member_id": str(share_stream(stream, make_account("member@example.org")).pk),
        "invitation_id": str(invite_to(stream, "new@example.org").pk),
        "key_id": str(create_key(organisation_of(owner), "Other", ["numbers"]).key.pk),
    }
    webhook = create_endpoint(organisation_of(owner), "https://example.org/events").endpoint
    paths |= {"webhook_id": str(webhook.pk), "delivery_id": str(send_test(webhook).pk)}
    paths["note_id"] = str(create_note(organisation_of(owner), "Front door: sale", NOTED, about=stream).pk)
    bodies = {
        "POST streams": {"name": "New", "preset": "counts", "site": site.pk},
        "POST streams/bulk": {"select": {"streams": [str(stream.client_id)]}, "change": {"add_tags": ["window"]}},
        "POST sites": {"name": "Lyon"},
        "POST templates": {"name": "Checkout", "preset": "counts"},
        "POST enrolment-codes": {"template": code.template_id, "site": site.pk},
        "POST invitations": {"emails": ["more@example.org"], "role": "viewer", "sites": [site.pk]},
        "POST keys": {"name": "Less", "scopes": ["manage"]},
        "PATCH templates/<int:template_id>": {"device_settings": {"fps": 2}},
        "PATCH devices/<uuid:device_id>": {"settings": {"fps": 2}},
        "POST device-configurations": {"select": {"devices": [str(device.device_id)]}, "settings": {"fps": 2}},
        "POST webhooks": {"url": "https://example.org/hook"},
        "POST notes": {"text": "Sale", "first_day": "2026-11-09", "stream": str(stream.client_id)},
    }
    return ApiWorld(created, paths, bodies, make_programs(created, other_place, stranger))


def verdict(answer: HttpResponse, operation: Operation) -> str:
    if answer.status_code == operation.status:
        return IN
    assert answer["Content-Type"] == "application/problem+json", answer.content
    if answer.status_code == 401:
        assert (answer.json()["code"], answer["WWW-Authenticate"]) == ("invalid_key", "Bearer")
        return KEY
    return str(answer.json()["code"])


def named(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def test_every_operation_is_in_the_matrix() -> None:
    assert {named(operation) for operation in OPERATIONS} == set(MATRIX)
    assert all(len(verdicts) == len(CALLERS) for verdicts in MATRIX.values())


@pytest.mark.parametrize("operation", OPERATIONS, ids=named)
def test_which_keys_are_let_in(api_world: ApiWorld, operation: Operation) -> None:
    expected = dict(zip(CALLERS, MATRIX[named(operation)], strict=True))
    found = {}
    for caller in CALLERS:
        with transaction.atomic():  # what is let in may change the world for those who come next
            answer = api_world.send(caller, operation)
            transaction.set_rollback(True)
        found[caller] = verdict(answer, operation)
    assert found == expected


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.method == "GET"], ids=named)
def test_what_another_organisation_reads_says_nothing_of_this_one(api_world: ApiWorld, operation: Operation) -> None:
    for caller in ("elsewhere", "other organisation"):
        answer = api_world.send(caller, operation)
        if answer.status_code == 200 and "<" not in operation.path:
            text = answer.content.decode()
            assert str(api_world.stream.client_id) not in text
            assert "Front door" not in text
            assert api_world.paths["device_id"] not in text
            if caller == "other organisation":
                assert "member@example.org" not in text
                assert "new@example.org" not in text


def test_nothing_has_changed_after_all_who_may_not_have_tried(api_world: ApiWorld) -> None:
    before = Stream.objects.filter(pk=api_world.stream.pk).values().get()
    keys = OrganisationKey.objects.count()
    for operation in OPERATIONS:
        for caller, expected in zip(CALLERS, MATRIX[named(operation)], strict=True):
            is_refused = expected != IN and (expected != KEY or caller == "expired")  # no key is like another
            if is_refused and operation.method != "GET":
                api_world.send(caller, operation)
    assert Stream.objects.filter(pk=api_world.stream.pk).values().get() == before
    assert OrganisationKey.objects.count() == keys
    assert Device.objects.get(device_id=api_world.paths["device_id"]).revoked_at is None
