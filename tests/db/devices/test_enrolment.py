"""A code lets so many devices in until it expires; a device keeps its key, renews its credential, and is revoked."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from enrolments import code_of, enrol, enrolled, new_key, renew, site_of, template_of
from onlooker.audit.models import AuditEntry
from onlooker.console.accounts.models import Account
from onlooker.console.devices import agent_requests
from onlooker.console.streams.passwords import delete_expired_tokens
from onlooker.console.streams.purge import purge_removed_streams
from onlooker.database import load_queries
from onlooker.devices.enrolment import CREDENTIAL_LIFE, GRACE, number_name, revoke_device
from onlooker.devices.enrolment_codes import create_replacement, delete_past_codes, end_code
from onlooker.devices.models import Device, DeviceCredential, EnrolmentCode
from onlooker.streams.administration import remove_stream, rotate_access_token
from onlooker.streams.credentials import hash_access_token
from onlooker.streams.models import AccessToken, Stream
from token_requests import program

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)
"""An actor that is declared holds for a transaction: each request must have its own."""


def is_live(client_id: str, access_token: str) -> bool:
    """Whether a gateway would take it, by the gateway's own query."""
    with connection.cursor() as cursor:
        cursor.execute(load_queries("onlooker.streams")["find_stream"], {"client_id": client_id, "month": "2026-01-01"})
        columns = [column.name for column in cursor.description or ()]
        row = dict(zip(columns, cursor.fetchone(), strict=True))
    return hash_access_token(access_token) in [bytes(one) for one in row["token_hashes"]]


def actions_of(stream: Stream) -> list[tuple[str, str]]:
    return list(AuditEntry.objects.filter(stream=stream).order_by("number").values_list("actor", "action"))


def test_a_device_gets_a_stream_of_its_own_from_the_template(owner: Account) -> None:
    said = enrolled(code_of(owner).text)
    stream = Stream.objects.get(client_id=said["client_id"])
    assert (stream.name, stream.reads_faces, stream.retention_days) == ("Shop window 1", False, 90)
    assert (stream.time_zone, stream.organisation) == ("Europe/Paris", EnrolmentCode.objects.get().organisation)
    assert is_live(said["client_id"], said["access_token"])
    assert (said["url"], said["console_url"]) == ("https://gate.example.org", "https://console.example.org")
    assert (said["source"], said["stream"]) == ("0", "Shop window 1")
    device = Device.objects.get()
    assert (device.stream, device.name, device.machine, device.version) == (stream, "player-1", "Pi", "0.1.0")
    assert said["device"] == str(device.device_id)
    assert AccessToken.objects.filter(stream=stream).count() == 1, "no Password that nobody knows"


def test_streams_at_a_site_are_named_after_it_and_get_its_time(owner: Account) -> None:
    code = code_of(owner, devices=3, site=site_of(owner))
    names = [enrolled(code.text)["stream"] for _ in range(3)]
    assert names == ["Lyon 1", "Lyon 2", "Lyon 3"]
    assert set(Stream.objects.values_list("time_zone", "site__name")) == {("Europe/Rome", "Lyon")}


@pytest.mark.parametrize(
    ("taken", "name"),
    [([], "Lyon 1"), (["Lyon 1", "Lyon 7", "Paris 9", "Lyon 12a"], "Lyon 8"), (["lyon 3"], "Lyon 1")],
)
def test_a_name_has_the_number_after_the_highest(taken: list[str], name: str) -> None:
    assert number_name("Lyon", taken) == name


def test_a_code_is_read_however_it_is_typed(owner: Account) -> None:
    code = code_of(owner, devices=3).text
    for typed in (code.lower(), code.replace("-", " "), f" {code.replace('-', '')} "):
        assert enrol(typed).status_code == 200


def test_a_code_is_nowhere_in_the_database(owner: Account) -> None:
    made = code_of(owner)
    row = EnrolmentCode.objects.filter(pk=made.code.pk).values().get()
    letters = made.text.replace("-", "")
    assert row["beginning"] == letters[:4]
    assert letters[4:] not in str(row)


def test_a_code_works_on_while_the_secret_key_is_replaced(owner: Account, settings: Any) -> None:
    code = code_of(owner).text
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another key " * 5, [settings.SECRET_KEY]
    assert enrol(code).status_code == 200


def test_one_device_too_many_is_refused_with_the_remedy(owner: Account) -> None:
    code = code_of(owner, devices=2).text
    assert [enrol(code).status_code for _ in range(2)] == [200, 200]
    answer = enrol(code)
    assert (answer.status_code, answer.json()["code"]) == (403, "enrolment_refused")
    assert "was for 2 devices" in answer.json()["detail"]
    assert "onlooker-agent enrol CODE" in answer.json()["detail"]
    assert (Device.objects.count(), Stream.objects.count()) == (2, 2)


def test_an_expired_and_an_ended_code_are_refused(owner: Account) -> None:
    expired, ended = code_of(owner), code_of(owner)
    EnrolmentCode.objects.filter(pk=expired.code.pk).update(expires_at=timezone.now())
    end_code(ended.code)
    assert "expired on" in enrol(expired.text).json()["detail"]
    assert "was ended" in enrol(ended.text).json()["detail"]
    assert not Device.objects.exists()


def test_wrong_codes_are_refused_and_after_ten_a_minute_unchecked(owner: Account) -> None:
    right = code_of(owner).text
    wrong = [enrol("CCCC-DDDD-FFFF") for _ in range(10)]
    assert {answer.status_code for answer in wrong} == {403}
    assert "letter by letter" in wrong[0].json()["detail"]
    answer = enrol(right)
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert "the code" in answer.json()["detail"]
    assert int(answer["Retry-After"]) > 0
    assert enrol(right, address="198.51.100.9").status_code == 200, "others are not kept out"


def test_codes_that_no_longer_work_do_not_count_as_guesses(owner: Account) -> None:
    made = code_of(owner)
    enrolled(made.text)
    assert {enrol(made.text).status_code for _ in range(12)} == {403}


def test_the_same_key_is_the_same_device_whatever_became_of_its_code(owner: Account) -> None:
    """The power may go at any moment between the answer and the device's disk."""
    made, key = code_of(owner), new_key()
    first = enrolled(made.text, key)
    EnrolmentCode.objects.update(expires_at=timezone.now())
    again = enrolled(made.text, key)
    assert (again["device"], again["client_id"]) == (first["device"], first["client_id"])
    assert again["access_token"] != first["access_token"], "it is stored as a hash, and can't be told again"
    assert is_live(again["client_id"], again["access_token"])
    assert EnrolmentCode.objects.get().devices == 1
    assert Stream.objects.count() == 1


def test_a_credential_is_renewed_and_the_one_before_lives_on_a_little(owner: Account) -> None:
    key = new_key()
    tokens = [enrolled(code_of(owner).text, key)["access_token"]]
    tokens += [renew(key).json()["access_token"] for _ in range(2)]
    ends = [AccessToken.objects.filter(sha256=hash_access_token(token)).first() for token in tokens]
    assert ends[0] is None, "the one before the last ends at once"
    assert abs(ends[1].expires_at - timezone.now() - GRACE) < timedelta(seconds=30)
    assert abs(ends[2].expires_at - timezone.now() - CREDENTIAL_LIFE) < timedelta(seconds=30)
    assert Device.objects.get().version == "0.2.0"


def test_a_credential_that_ended_is_replaced_by_the_key_alone(owner: Account) -> None:
    key = new_key()
    said = enrolled(code_of(owner).text, key)
    AccessToken.objects.update(expires_at=timezone.now() - timedelta(days=40))
    delete_expired_tokens()
    assert not DeviceCredential.objects.exists()
    assert is_live(said["client_id"], renew(key).json()["access_token"])


def test_a_rotation_of_the_password_ends_a_devices_too_and_it_gets_another(owner: Account) -> None:
    key = new_key()
    said = enrolled(code_of(owner).text, key)
    rotate_access_token(Stream.objects.get(), grace=timedelta(0))
    AccessToken.objects.filter(expires_at__isnull=False).update(expires_at=timezone.now())
    assert not is_live(said["client_id"], said["access_token"])
    assert is_live(said["client_id"], renew(key).json()["access_token"])


def test_a_key_that_nobody_has_is_refused(owner: Account) -> None:
    answer = renew(new_key())
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_credentials")
    assert "onlooker-agent enrol CODE" in answer.json()["detail"]


def test_a_revoked_device_is_told_so_by_its_key_and_its_code(owner: Account) -> None:
    made, key = code_of(owner, devices=2), new_key()
    said = enrolled(made.text, key)
    revoke_device(Device.objects.get())
    assert not is_live(said["client_id"], said["access_token"])
    for answer in (renew(key), enrol(made.text, key)):
        assert (answer.status_code, answer.json()["code"]) == (403, "device_revoked")
        assert "onlooker-agent enrol CODE" in answer.json()["detail"]
    assert Stream.objects.get().removed_at is None, "its numbers stay"


def test_a_replacement_takes_over_the_stream_and_revokes_the_old_device(owner: Account) -> None:
    old, new = new_key(), new_key()
    first = enrolled(code_of(owner).text, old)
    stream = Stream.objects.get()
    replacement = create_replacement(stream, by=owner)
    assert renew(old).status_code == 200, "until the new one is there"
    second = enrolled(replacement.text, new)
    assert (second["client_id"], second["stream"]) == (first["client_id"], first["stream"])
    assert renew(old).json()["code"] == "device_revoked"
    assert not is_live(first["client_id"], first["access_token"])
    assert is_live(second["client_id"], second["access_token"])
    assert enrol(replacement.text).status_code == 403
    assert [device.revoked_at is None for device in Device.objects.order_by("pk")] == [False, True]
    assert Stream.objects.count() == 1


def test_what_becomes_of_a_device_is_in_the_audit_log_of_its_stream(owner: Account) -> None:
    made = code_of(owner)
    enrolled(made.text)
    stream, device = Stream.objects.get(), Device.objects.get()
    revoke_device(device)
    found = actions_of(stream)
    assert (f"code:{made.code.pk}", "stream.created") in found
    assert (f"code:{made.code.pk}", "device.enrolled") in found
    assert (f"device:{device.pk}", "password.created") in found
    assert found[-2][1] == "device.revoked"
    entry = AuditEntry.objects.get(stream=stream, action="device.enrolled")
    assert json.loads(entry.detail) == {"device": device.pk, "name": "player-1", "code": made.code.pk}


def test_a_removed_stream_takes_its_devices_and_codes_with_it(owner: Account) -> None:
    key = new_key()
    enrolled(code_of(owner).text, key)
    stream = Stream.objects.get()
    replacement = create_replacement(stream)
    remove_stream(stream)
    assert renew(key).json()["code"] == "device_revoked"
    assert enrol(replacement.text).status_code == 403
    assert purge_removed_streams(timezone.now() + timedelta(hours=1)) == 1
    assert not Device.objects.exists()
    assert not EnrolmentCode.objects.filter(stream__isnull=False).exists()
    assert not Stream.objects.exists()


def test_codes_of_long_ago_are_deleted_and_their_devices_stay(owner: Account) -> None:
    key = new_key()
    enrolled(code_of(owner).text, key)
    assert delete_past_codes(timezone.now() + timedelta(days=80)) == 0
    assert delete_past_codes(timezone.now() + timedelta(days=92)) == 1
    assert Device.objects.get().code is None
    assert renew(key).status_code == 200


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"device_key": "short"}, 400),
        ({"device_key": None}, 400),
        ({"code": 5}, 400),
        ({"code": "x" * 101}, 400),
        ({"name": "\x00\u202eplayer\ud800"}, 200),
    ],
)
def test_what_a_device_sends_is_checked(owner: Account, change: dict[str, object], status: int) -> None:
    body = {"code": code_of(owner).text, "device_key": new_key()} | change
    answer = program().post("/devices/enrol/", json.dumps(body), content_type="application/json")
    assert answer.status_code in (status, 400)
    assert set(Device.objects.values_list("name", flat=True)) <= {"player"}


def test_a_template_sets_nothing_else_of_a_stream(owner: Account) -> None:
    with pytest.raises(ValueError, match="kind"):
        template_of(owner, kind="enterprise")


def test_a_device_that_asks_all_the_time_is_told_to_wait(owner: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agent_requests.CREDENTIALS_OF_ONE_DEVICE == "30/h/key"
    monkeypatch.setattr(agent_requests, "CREDENTIALS_OF_ONE_DEVICE", "3/h/key")  # the first comes with enrolment
    key = new_key()
    enrolled(code_of(owner).text, key)
    assert [renew(key).status_code for _ in range(3)] == [200, 200, 429]
    assert AccessToken.objects.count() == 2
