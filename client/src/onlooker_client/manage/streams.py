"""Streams, their tags, and changes of many at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from onlooker_client.manage.api_request import ManagementApi, Named, given, id_of, path_to
from onlooker_client.manage.record_fields import read_record
from onlooker_client.manage.records import BulkChange, NewPassword, NewStream, Stream, Tag
from onlooker_client.manage.selection import Selection


class Streams:
    """`organisation.streams`."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    def __iter__(self) -> Iterator[Stream]:
        return self.list()

    def list(self, *, site: Named | None = None, tag: str | None = None, search: str | None = None) -> Iterator[Stream]:
        """All that the key reaches; pages are fetched while one goes through them."""
        query = {"site": None if site is None else id_of(site), "tag": tag, "search": search}
        return self._api.items(Stream, "streams", query)

    def get(self, stream: Named) -> Stream:
        return read_record(Stream, self._api.get(path_to("streams", stream)))

    def create(
        self,
        name: str,
        *,
        site: Named | None = None,
        tags: Sequence[str] = (),
        preset: str | None = None,
        place: str | None = None,
        compute: str | None = None,
        time_zone: str | None = None,
        hours: str | None = None,
        kind: str | None = None,
        notice_given: bool | None = None,
        idempotency_key: str | None = None,
    ) -> NewStream:
        """With its Password, which is not shown again."""
        said = given(
            name=name,
            site=None if site is None else id_of(site),
            tags=list(tags) or None,
            preset=preset,
            place=place,
            compute=compute,
            time_zone=time_zone,
            hours=hours,
            kind=kind,
            notice_given=notice_given,
        )
        return read_record(NewStream, self._api.post("streams", said, idempotency_key=idempotency_key))

    def change(self, stream: Named, **changes: Any) -> Stream:
        """Fields of `Stream`; None takes its site away."""
        if "site" in changes and changes["site"] is not None:
            changes["site"] = id_of(changes["site"])
        return read_record(Stream, self._api.patch(path_to("streams", stream), changes))

    def delete(self, stream: Named) -> None:
        """With all its numbers."""
        self._api.delete(path_to("streams", stream))

    def new_password(self, stream: Named, *, grace_hours: float | None = None) -> NewPassword:
        """The one before ends after the grace."""
        path = path_to("streams", stream, "access-token")
        return read_record(NewPassword, self._api.post(path, given(grace_hours=grace_hours)))

    def change_many(self, selection: Selection, *, preview: bool = False, **changes: Any) -> BulkChange:
        """`site`, `retention_days`, `hours`, `groups_of`, `add_tags` and `remove_tags`; all of it or nothing."""
        if "site" in changes and changes["site"] is not None:
            changes["site"] = id_of(changes["site"])
        said = {"select": selection.said("streams"), "change": changes, "preview": preview}
        return read_record(BulkChange, self._api.post("streams/bulk", said))


class Tags:
    """`organisation.tags`: words that streams have in common. A tag is there as long as a stream has it."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api
        self._streams = Streams(api)

    def __iter__(self) -> Iterator[Tag]:
        return self.list()

    def list(self) -> Iterator[Tag]:
        """Each with how many streams have it."""
        return self._api.items(Tag, "tags")

    def add(self, tag: str, selection: Selection, *, preview: bool = False) -> BulkChange:
        return self._streams.change_many(selection, preview=preview, add_tags=[tag])

    def remove(self, tag: str, selection: Selection, *, preview: bool = False) -> BulkChange:
        return self._streams.change_many(selection, preview=preview, remove_tags=[tag])
