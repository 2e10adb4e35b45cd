"""Sites: places where streams stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onlooker_client.manage.api_request import ManagementApi, Named, given, path_to
from onlooker_client.manage.record_fields import read_record
from onlooker_client.manage.records import Site


class Sites:
    """`organisation.sites`."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    def __iter__(self) -> Iterator[Site]:
        return self.list()

    def list(self, *, search: str | None = None) -> Iterator[Site]:
        return self._api.items(Site, "sites", {"search": search})

    def get(self, site: Named) -> Site:
        return read_record(Site, self._api.get(path_to("sites", site)))

    def create(
        self,
        name: str,
        *,
        address: str | None = None,
        time_zone: str | None = None,
        hours: str | None = None,
        idempotency_key: str | None = None,
    ) -> Site:
        said = given(name=name, address=address, time_zone=time_zone, hours=hours)
        return read_record(Site, self._api.post("sites", said, idempotency_key=idempotency_key))

    def change(self, site: Named, **changes: Any) -> Site:
        """`name`, `address`, `time_zone`, `hours`, and `device_settings`, in which None takes a setting away."""
        return read_record(Site, self._api.patch(path_to("sites", site), changes))

    def delete(self, site: Named) -> None:
        """Its streams stay, without a site."""
        self._api.delete(path_to("sites", site))
