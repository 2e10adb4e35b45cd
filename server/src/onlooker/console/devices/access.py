"""Whose devices an account manages: those of organisations in which it is an owner or a manager."""

from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from onlooker.console.accounts.models import Account
from onlooker.console.streams.access import managed_organisations
from onlooker.devices.models import Device

__all__ = ["any_device", "managed_device", "managed_devices", "managed_organisations"]


def managed_devices(account: Account) -> QuerySet[Device]:
    """Of streams that are not removed; revoked ones, too."""
    return Device.objects.filter(stream__organisation__in=managed_organisations(account), stream__removed_at=None)


def managed_device(account: Account, device_id: UUID) -> Device:
    """A device that the account may revoke, or Http404."""
    rows = managed_devices(account).select_related("stream__site", "stream__organisation")
    return get_object_or_404(rows, device_id=device_id, revoked_at=None)


def any_device(account: Account, device_id: UUID) -> Device:
    """A device that the account may look at, also one that is revoked; or Http404."""
    rows = managed_devices(account).select_related("stream__site", "stream__organisation", "template", "status")
    return get_object_or_404(rows, device_id=device_id)
