"""Notes on days: of a stream, of a site, or of the whole organisation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from onlooker_client.manage.api_request import ManagementApi, Named, given, path_to
from onlooker_client.manage.record_fields import read_record
from onlooker_client.manage.records import Note


class Notes:
    """`organisation.notes`."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    def __iter__(self) -> Iterator[Note]:
        return self.list()

    def list(
        self,
        *,
        stream: str | None = None,
        site: int | None = None,
        from_date: date | str | None = None,
        to_date: date | str | None = None,
    ) -> Iterator[Note]:
        """`stream`, by its client_id: those that concern it. Days: those that touch one from the first to the last."""
        asked = {"stream": stream, "site": site, "from_date": _day(from_date), "to_date": _day(to_date)}
        return self._api.items(Note, "notes", asked)

    def get(self, note: Named) -> Note:
        return read_record(Note, self._api.get(path_to("notes", note)))

    def create(
        self,
        text: str,
        first_day: date | str,
        last_day: date | str | None = None,
        *,
        stream: str | None = None,
        site: int | None = None,
        idempotency_key: str | None = None,
    ) -> Note:
        """About a stream, a site, or neither: the whole organisation. Without a last day, of one day."""
        said = given(text=text, first_day=_day(first_day), last_day=_day(last_day), stream=stream, site=site)
        return read_record(Note, self._api.post("notes", said, idempotency_key=idempotency_key))

    def change(self, note: Named, **changes: Any) -> Note:
        """`text`, `first_day`, `last_day`."""
        said = {name: _day(value) if isinstance(value, date) else value for name, value in changes.items()}
        return read_record(Note, self._api.patch(path_to("notes", note), said))

    def delete(self, note: Named) -> None:
        self._api.delete(path_to("notes", note))


def _day(day: date | str | None) -> str | None:
    return day.isoformat() if isinstance(day, date) else day
