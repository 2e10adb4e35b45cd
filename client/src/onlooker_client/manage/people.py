"""Members of the organisation, and invitations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from onlooker_client.manage.api_request import ManagementApi, Named, given, id_of, path_to
from onlooker_client.manage.record_fields import read_record
from onlooker_client.manage.records import Invitation, Invited, Member


class Members:
    """`organisation.members`."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    def __iter__(self) -> Iterator[Member]:
        return self.list()

    def list(self, *, search: str | None = None) -> Iterator[Member]:
        return self._api.items(Member, "members", {"search": search})

    def get(self, member: Named) -> Member:
        return read_record(Member, self._api.get(path_to("members", member)))

    def change(self, member: Named, *, role: str | None = None, sites: Sequence[Named] | None = None) -> Member:
        said = given(role=role, sites=None if sites is None else [id_of(site) for site in sites])
        return read_record(Member, self._api.patch(path_to("members", member), said))

    def remove(self, member: Named) -> None:
        self._api.delete(path_to("members", member))

    def invite(
        self,
        emails: Sequence[str],
        role: str,
        *,
        sites: Sequence[Named] = (),
        idempotency_key: str | None = None,
    ) -> Invited:
        """Several addresses at once; `sites` are those that a viewer sees."""
        said: dict[str, Any] = {"emails": [emails] if isinstance(emails, str) else list(emails), "role": role}
        if sites:
            said["sites"] = [id_of(site) for site in sites]
        return read_record(Invited, self._api.post("invitations", said, idempotency_key=idempotency_key))

    def invitations(self) -> Iterator[Invitation]:
        """Those without an answer."""
        return self._api.items(Invitation, "invitations")

    def withdraw(self, invitation: Named) -> None:
        self._api.delete(path_to("invitations", invitation))
