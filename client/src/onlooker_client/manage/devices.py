"""Devices: lists, health, configuration, and their end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onlooker_client.errors import LinkError
from onlooker_client.manage.api_request import ManagementApi, Named, given, id_of, path_to
from onlooker_client.manage.device_records import BulkConfiguration, Device, DeviceConfiguration, NewCode, Settings
from onlooker_client.manage.record_fields import read_record
from onlooker_client.manage.selection import Selection

Minutes = list[dict[str, Any]]


class Devices:
    """`organisation.devices`."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    def __iter__(self) -> Iterator[Device]:
        return self.list()

    def list(
        self,
        *,
        site: Named | None = None,
        tag: str | None = None,
        search: str | None = None,
        revoked: bool = False,
    ) -> Iterator[Device]:
        """The newest first; `revoked`: those that were revoked, too."""
        query = {
            "site": None if site is None else id_of(site),
            "tag": tag,
            "search": search,
            "revoked": "true" if revoked else None,
        }
        return self._api.items(Device, "devices", query)

    def get(self, device: Named) -> Device:
        return read_record(Device, self._api.get(path_to("devices", device)))

    def configure(self, device: Named, settings: Settings) -> Device:
        """Its own settings, over those of its site and template; None takes one away."""
        return read_record(Device, self._api.patch(path_to("devices", device), {"settings": dict(settings)}))

    def configure_many(self, selection: Selection, settings: Settings, *, preview: bool = False) -> BulkConfiguration:
        said = {"select": selection.said("devices"), "settings": dict(settings), "preview": preview}
        return read_record(BulkConfiguration, self._api.post("device-configurations", said))

    def configuration(self, device: Named) -> DeviceConfiguration:
        """What it is told, and the newest versions with what it made of them."""
        return read_record(DeviceConfiguration, self._api.get(path_to("devices", device, "configuration")))

    def offer_again(self, device: Named) -> DeviceConfiguration:
        """What it refused or rolled back, as its next version."""
        path = path_to("devices", device, "configuration", "again")
        return read_record(DeviceConfiguration, self._api.post(path))

    def health(self, device: Named) -> Minutes:
        """Minutes of the last day, oldest first: `at`, and what the device reported."""
        items = self._api.get(path_to("devices", device, "health")).get("items")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise LinkError("The answer is no list. Is this the address of an Onlooker console?")
        return items

    def revoke(self, device: Named) -> Device:
        """The server refuses it from now on."""
        return read_record(Device, self._api.post(path_to("devices", device, "revoke")))

    def replace(self, device: Named, *, life_days: int | None = None) -> NewCode:
        """A code for the box that takes its stream over; the old one is revoked when that enrols."""
        path = path_to("devices", device, "replacement")
        return read_record(NewCode, self._api.post(path, given(life_days=life_days)))
