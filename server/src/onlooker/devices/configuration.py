"""A device's document: template, site and device merged, in versions, of which one is offered."""

from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from onlooker.audit.actor import acting_as
from onlooker.database import load_queries
from onlooker.devices.device_events import tell
from onlooker.devices.device_settings import Level, check_settings
from onlooker.devices.models import (
    FAILED_STATES,
    ConfigurationState,
    Device,
    DeviceConfiguration,
    DeviceTemplate,
    SiteDeviceSettings,
)
from onlooker.streams.models import Organisation, Site

__all__ = ["Document", "Level", "document_for", "report_configuration", "write_versions"]

LONGEST_REASON = 300
TOLD = {
    ConfigurationState.REFUSED.value: "device.configuration_refused",
    ConfigurationState.ROLLED_BACK.value: "device.configuration_rolled_back",
}
"""States that webhooks are told of."""

_queries = load_queries("onlooker.devices")


@dataclass(frozen=True)
class Document:
    """What a device is to be set to."""

    version: int
    settings: dict[str, Any]
    etag: str


NOTHING_SET = Document(0, {}, "0-44136fa3")
"""What a device is offered that could not live with any version: its own settings."""


def document_for(device: Device) -> Document:
    """What is offered now. A change that brought no version yet brings it here."""
    write_versions([device.pk], Level.STREAM)
    return offered_document(device.pk)


def offered_document(device_id: int) -> Document:
    """The newest version, or the last one that was applied where the device could not live with that."""
    versions = DeviceConfiguration.objects.filter(device=device_id).order_by("-version")
    offered = versions.first()
    if offered and offered.state in FAILED_STATES:
        offered = versions.filter(state=ConfigurationState.APPLIED).first()
    return Document(offered.version, offered.settings, offered.etag) if offered else NOTHING_SET


def newest_version(device: Device) -> DeviceConfiguration | None:
    """Whether or not it is the one that is offered."""
    return DeviceConfiguration.objects.filter(device=device).order_by("-version").first()


def with_configuration_state(devices: QuerySet[Device]) -> QuerySet[Any]:
    """With `newest_version` and its `configuration_state`, `configuration_reason`; None before a device has any."""
    newest = DeviceConfiguration.objects.filter(device=OuterRef("pk")).order_by("-version")
    return devices.annotate(
        newest_version=Subquery(newest.values("version")[:1]),
        configuration_state=Subquery(newest.values("state")[:1]),
        configuration_reason=Subquery(newest.values("reason")[:1]),
    )


def set_template_settings(template: DeviceTemplate, settings: dict[str, Any], *, by: str) -> int:
    """Those that are named; None takes one away. How many devices got a version. Raises ValueError."""
    checked = check_settings(Level.TEMPLATE, settings)
    with acting_as(by):
        _lock_organisation(template.organisation_id)
        locked = DeviceTemplate.objects.select_for_update(no_key=True).get(pk=template.pk)
        template.device_settings = locked.device_settings = changed(locked.device_settings, checked)
        locked.save(update_fields=["device_settings"])
        return write_versions(_live(Device.objects.filter(template=template)), Level.TEMPLATE)


def set_site_settings(site: Site, settings: dict[str, Any], *, by: str) -> int:
    """Those that are named; None takes one away. How many devices got a version. Raises ValueError."""
    checked = check_settings(Level.SITE, settings)
    with acting_as(by):
        _lock_organisation(site.organisation_id)
        row, _ = SiteDeviceSettings.objects.select_for_update(no_key=True).get_or_create(site=site)
        row.settings = changed(row.settings, checked)
        row.save(update_fields=["settings"])
        return write_versions(_live(Device.objects.filter(stream__site=site)), Level.SITE)


def set_device_settings(device: Device, settings: dict[str, Any], *, by: str) -> int:
    """Those that are named; None takes one away. Whether it got a version (1 or 0). Raises ValueError."""
    checked = check_settings(Level.DEVICE, settings)
    with acting_as(by):
        locked = Device.objects.select_for_update(no_key=True).get(pk=device.pk)
        device.settings = locked.settings = changed(locked.settings, checked)
        locked.save(update_fields=["settings"])
        return write_versions([device.pk], Level.DEVICE)


def choose_template(device: Device, template: DeviceTemplate | None, *, by: str) -> int:
    """Whose device settings it has from now on; its stream stays as it is. Raises ValueError."""
    if template and template.organisation_id != device.stream.organisation_id:
        raise ValueError("Template and device belong to different organisations.")
    with acting_as(by):
        before = newest_version(device)
        Device.objects.filter(pk=device.pk).update(template=template)  # a trigger writes the version
        device.template = template
        return int(newest_version(device) != before)


def offer_again(device: Device, *, by: str) -> int:
    """The newest settings as a next version, where the device could not live with them before."""
    with acting_as(by):
        newest = newest_version(device)
        if newest is None or newest.state not in FAILED_STATES:
            return 0
        return write_versions([device.pk], Level.AGAIN)


@transaction.atomic
def report_configuration(device_id: int, etag: str, state: str, reason: str) -> bool:
    """What a device made of a version. Whether that was news; a version that is not known is none."""
    if state not in ConfigurationState.values or state == ConfigurationState.NEW:
        return False
    now = timezone.now()
    about: dict[str, Any] = {"state": state, "reason": reason[:LONGEST_REASON], "reported_at": now}
    if state == ConfigurationState.APPLIED:
        about["applied_at"] = now
    with acting_as(f"device:{device_id}"):
        rows = DeviceConfiguration.objects.filter(device=device_id, etag=etag)
        if not rows.exclude(state=state, reason=about["reason"]).update(**about):
            return False
        if state in TOLD:
            for row in rows.select_related("device__stream__site"):
                tell(row.device, TOLD[state], version=row.version, reason=row.reason)
    return True


def write_versions(devices: list[int], level: Level) -> int:
    """Those whose settings changed get their next version, all in one statement; how many."""
    with connection.cursor() as cursor:
        cursor.execute(_queries["write_versions"], {"devices": devices, "level": level.value})
        return int(cursor.fetchone()[0])


def changed(settings: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Settings with changes, of which None takes one away."""
    return {name: value for name, value in (settings | changes).items() if value is not None}


def _live(devices: QuerySet[Device]) -> list[int]:
    rows = devices.filter(revoked_at=None, stream__removed_at=None)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _lock_organisation(organisation_id: int) -> None:
    """First, as wherever it is locked: a device that enrols meanwhile waits, and gets what is set now."""
    list(Organisation.objects.select_for_update(no_key=True).filter(pk=organisation_id))
