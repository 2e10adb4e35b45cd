"""Keys of the organisation, for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onlooker_client.manage.api_request import ManagementApi, Named, given, id_of, path_to
from onlooker_client.manage.record_fields import read_record
from onlooker_client.manage.records import Key, NewKey

SCOPES = ("numbers", "manage", "enrol", "frames")


class Keys:
    """`organisation.keys`."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    def __iter__(self) -> Iterator[Key]:
        return self.list()

    def list(self) -> Iterator[Key]:
        return self._api.items(Key, "keys")

    def get(self, key: Named) -> Key:
        return read_record(Key, self._api.get(path_to("keys", key)))

    def create(
        self,
        name: str,
        scopes: Sequence[str],
        *,
        sites: Sequence[Named] = (),
        streams: Sequence[Named] = (),
        life_days: float | None = None,
        role: str | None = None,
        idempotency_key: str | None = None,
    ) -> NewKey:
        """With its text, which is not shown again. No key can create one that may do more than itself."""
        said = given(
            name=name,
            scopes=[scopes] if isinstance(scopes, str) else list(scopes),
            sites=[id_of(site) for site in sites] or None,
            streams=[id_of(stream) for stream in streams] or None,
            life_days=life_days,
            role=role,
        )
        return read_record(NewKey, self._api.post("keys", said, idempotency_key=idempotency_key))

    def revoke(self, key: Named) -> None:
        self._api.delete(path_to("keys", key))
