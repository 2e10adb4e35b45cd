"""Reading the log of a stream or an organisation: for pages, exports and checks; and what ends of it in time."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import connection

from onlooker.audit.chain import ChainEnds, CheckedChain, LoggedEntry, check_chain, moment_text
from onlooker.audit.models import (
    KEPT_DAYS,
    AuditChain,
    AuditEntry,
    AuditRetention,
    OrganisationChain,
    OrganisationEntry,
)
from onlooker.database import load_queries

AT_ONCE = 2000
CHAINS_AT_ONCE = 500

_queries = load_queries("onlooker.audit")


def kept_days(stream_id: int) -> int:
    chosen = AuditRetention.objects.filter(stream_id=stream_id).values_list("days", flat=True).first()
    return KEPT_DAYS if chosen is None else chosen


def choose_kept_days(stream_id: int, days: int) -> None:
    AuditRetention.objects.update_or_create(stream_id=stream_id, defaults={"days": days})


def append_entry(stream_id: int, *, actor: str, action: str, about: dict[str, Any]) -> None:
    """For what no trigger sees."""
    values: dict[str, Any] = {"stream_id": stream_id, "actor": actor, "action": action, "detail": json.dumps(about)}
    with connection.cursor() as cursor:
        cursor.execute(_queries["note_reading"], values)


def append_export(stream_id: int, *, actor: str, from_at: datetime, to_at: datetime) -> None:
    """Somebody downloaded numbers from the dashboard; once an hour for the same range."""
    append_exports({stream_id: (from_at, to_at)}, actor=actor)


def append_exports(ranges: Mapping[int, tuple[datetime, datetime]], *, actor: str) -> None:
    """The same of many streams at once, by their ids."""
    details = [
        json.dumps({"from": moment_text(from_at), "to": moment_text(to_at)}) for from_at, to_at in ranges.values()
    ]
    values: dict[str, Any] = {
        "stream_ids": list(ranges),
        "details": details,
        "actor": actor,
        "action": "numbers.exported",
    }
    with connection.cursor() as cursor:
        cursor.execute(_queries["note_exports"], values)


def list_entries(stream_id: int) -> Iterator[LoggedEntry]:
    """All of a stream, oldest first, some at a time."""
    after = 0
    while rows := list(AuditEntry.objects.filter(stream_id=stream_id, number__gt=after).order_by("number")[:AT_ONCE]):
        yield from map(logged_entry, rows)
        after = rows[-1].number


def list_organisation_entries(organisation_id: int) -> Iterator[LoggedEntry]:
    """The same of an organisation, whose number stands negative in the place of a stream's."""
    after = 0
    rows = OrganisationEntry.objects.filter(organisation_id=organisation_id).order_by("number")
    while some := list(rows.filter(number__gt=after)[:AT_ONCE]):
        yield from (logged_entry(row) for row in some)
        after = some[-1].number


def logged_entry(row: AuditEntry | OrganisationEntry) -> LoggedEntry:
    return LoggedEntry(
        stream_id=row.stream_id if isinstance(row, AuditEntry) else -row.organisation_id,
        number=row.number,
        at=moment_text(row.at),
        role=row.role,
        actor=row.actor,
        action=row.action,
        detail=row.detail,
        previous_hash=bytes(row.previous_hash).hex(),
        hash=bytes(row.hash).hex(),
    )


def check_log(stream_id: int) -> CheckedChain:
    """Up to the end that was known when the check began: entries may be added meanwhile."""
    return _check(lambda: list_entries(stream_id), lambda: AuditChain.objects.filter(stream_id=stream_id).first())


def check_organisation_log(organisation_id: int) -> CheckedChain:
    """The same of an organisation."""
    return _check(
        lambda: list_organisation_entries(organisation_id),
        lambda: OrganisationChain.objects.filter(organisation_id=organisation_id).first(),
    )


def _check(
    read_entries: Callable[[], Iterator[LoggedEntry]], read_chain: Callable[[], AuditChain | OrganisationChain | None]
) -> CheckedChain:
    """A log may begin meanwhile, or its oldest entries end: what is missing then may be no fault; it is read again."""
    while True:
        ends = _ends_of(read_chain())
        last_number = ends.last_number if ends else None
        entries = (one for one in read_entries() if last_number is None or one.number <= last_number)
        checked = check_chain(entries, ends or ChainEnds(1, 0, ""))
        if not checked.fault or _first_number(ends) == _first_number(_ends_of(read_chain())):
            return checked


def _ends_of(chain: AuditChain | OrganisationChain | None) -> ChainEnds | None:
    """None where nothing was ever logged, or all of it went with what it is the log of."""
    return ChainEnds(chain.first_number, chain.last_number, bytes(chain.last_hash).hex()) if chain else None


def _first_number(ends: ChainEnds | None) -> int | None:
    return ends.first_number if ends else None


def end_past_entries() -> int:
    """A chore; returns how many entries ended."""
    ended = sum(end_entries(stream_id) for stream_id in _past("past_chains"))
    return ended + sum(_end_organisation_entries(number) for number in _past("past_organisation_chains"))


def _past(query: str) -> list[int]:
    """The numbers of some streams or organisations."""
    with connection.cursor() as cursor:
        cursor.execute(_queries[query], {"days": KEPT_DAYS, "limit": CHAINS_AT_ONCE})
        return [number for (number,) in cursor.fetchall()]


def _end_organisation_entries(organisation_id: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_queries["end_organisation_entries"], {"organisation_id": organisation_id})
        return int(cursor.fetchone()[0])


def end_entries(stream_id: int) -> int:
    """Of a stream that is being removed, all of them."""
    with connection.cursor() as cursor:
        cursor.execute(_queries["end_entries"], {"stream_id": stream_id})
        return int(cursor.fetchone()[0])
