"""Whose devices an account manages: those of organisations in which it is an owner or a manager."""

from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.reach import may_have_own_organisation
from onlooker.console.streams.access import managed_organisations
from onlooker.devices.models import Device
from onlooker.streams.models import Membership

__all__ = ["any_device", "managed_device", "managed_devices", "managed_organisations", "may_enrol"]


def may_enrol(account: Account) -> bool:
    """Whether it manages an organisation, or is in none and gets its own with its first template."""
    if managed_organisations(account).exists():
        return True
    is_anywhere = Membership.objects.filter(account=account.pk).exists()
    return not is_anywhere and may_have_own_organisation(account)


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
