"""Devices that enrolled with the release before: they stay enrolled, keep their Passwords, and get a document."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from console_role import grant_again
from enrolments import code_of, enrolled, site_of
from onlooker.console.accounts.models import Account
from onlooker.database import load_queries
from onlooker.devices.configuration import document_for
from onlooker.devices.enrolment import revoke_device
from onlooker.devices.models import Device, DeviceConfiguration
from onlooker.streams.credentials import hash_access_token

BEFORE = [("devices", "0001_initial")]
DEVICES = 40

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def tables_of_the_release_before() -> Iterator[None]:
    """Whatever happens, at the newest ones afterwards."""
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    MigrationExecutor(connection).migrate(BEFORE)
    try:
        yield
    finally:
        MigrationExecutor(connection).migrate(newest)
        grant_again()


def tables() -> set[str]:
    with connection.cursor() as cursor:
        return set(connection.introspection.table_names(cursor))


def is_taken(client_id: str, access_token: str) -> bool:
    """By the gateway's own query."""
    with connection.cursor() as cursor:
        cursor.execute(load_queries("onlooker.streams")["find_stream"], {"client_id": client_id, "month": "2026-01-01"})
        names = [column.name for column in cursor.description or ()]
        row = dict(zip(names, cursor.fetchone(), strict=True))
    return hash_access_token(access_token) in [bytes(one) for one in row["token_hashes"]]


def test_devices_of_the_release_before_go_on_and_get_a_document(owner: Account) -> None:
    code = code_of(owner, devices=DEVICES, site=site_of(owner))
    answers = [enrolled(code.text) for _ in range(DEVICES)]
    revoked = answers[-1]
    revoke_device(Device.objects.get(device_id=revoked["device"]))
    with tables_of_the_release_before():
        assert "devices_deviceconfiguration" not in tables()
        assert "devices_devicehealth" not in tables()
    assert {str(one) for one in Device.objects.values_list("device_id", flat=True)} == {
        said["device"] for said in answers
    }
    assert [is_taken(said["client_id"], said["access_token"]) for said in answers] == [True] * (DEVICES - 1) + [False]
    live = Device.objects.filter(revoked_at=None).select_related("template", "stream")
    for device in live:
        assert device.template is not None
        assert device.template.pk == code.code.template_id
        document = document_for(device)
        assert (document.version, document.settings["compute"]) == (1, device.stream.compute)
    assert DeviceConfiguration.objects.count() == DEVICES - 1, "none for a device that is revoked"
