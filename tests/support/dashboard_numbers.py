"""A stream with visits and coverage in the console's test database, and what its dashboard shows of it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import msgspec
from django.conf import settings
from django.db import connection
from django.test import Client
from psycopg.conninfo import make_conninfo

from onlooker.database import Pool, open_pool
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query, Time
from onlooker.metrics.rollup import fill_slots
from onlooker.settings import Settings
from onlooker.streams.models import Coverage, Stream
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from recorder_process import visit

SLOT = timedelta(minutes=15)
Found = TypeVar("Found")


def with_numbers(act: Callable[[Pool], Awaitable[Found]]) -> Found:
    """Act with a pool of the test's database."""
    url = make_conninfo(settings.ONLOOKER.database_url, dbname=connection.settings_dict["NAME"])

    async def run() -> Found:
        async with open_pool(Settings(database_url=url)) as pool:
            return await act(pool)

    return asyncio.run(run())


def seen(stream: Stream, at: datetime, *, looks: bool = False, **changes: Any) -> Visit:
    """Somebody who is there for 20 seconds, and stands and looks for 5 where it says so."""
    start = int(at.timestamp() * 1000)
    five = [(start, start + 5000)] if looks else []
    one = visit(stream.id, began_ms=start, present=[(start, start + 20_000)], still=five, looking=five)
    return msgspec.structs.replace(one, **changes)


def write(*visits: Visit, fill: bool = True) -> None:
    async def act(pool: Pool) -> None:
        assert await VisitWriter(pool, Partitions(pool)).write(visits) == []
        while fill and await fill_slots(pool, due_s=0):
            pass

    with_numbers(act)


def cover(stream: Stream, from_at: datetime, to_at: datetime) -> None:
    """The camera watches from slot to slot."""
    slots = range(int((to_at - from_at) / SLOT))
    Coverage.objects.bulk_create([Coverage(stream=stream, slot_at=from_at + n * SLOT, video_s=900) for n in slots])


def ask(stream: Stream, from_date: str, to_date: str, time: str = "global") -> dict[str, dict[str, Any]]:
    """What the data endpoint answers."""
    from_at, to_at = (datetime.fromisoformat(date).astimezone(UTC) for date in (from_date, to_date))
    query = Query(stream.id, tuple(METRICS), from_at, to_at, ZoneInfo(stream.time_zone), Time(time))

    async def act(pool: Pool) -> dict[str, dict[str, Any]]:
        return (await run_query(pool, query, size=10_000)).entities

    return with_numbers(act)


class Shown(HTMLParser):
    """What a page shows: attributes of the report, numbers, texts and the data of the charts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.report: dict[str, str | None] = {}
        self.numbers: dict[str, str | None] = {}
        self.chosen: list[str | None] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._chart = ""
        self._in_cell = False
        self._text = ""
        self.feed(page)

    @property
    def data(self) -> dict[str, Any]:
        before, _, after = self.page.partition('<script id="report-data" type="application/json">')
        assert before
        found: dict[str, Any] = json.loads(after.partition("</script>")[0])
        return found

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if values.get("id") == "report":
            self.report = values
        if values.get("aria-current") == "true" and "id" in values:  # the bar's section has none
            self.chosen.append(values["id"])
        if "data-metric" in values:
            self.numbers[values["data-metric"] or ""] = values["data-value"]
        if "data-chart" in values:
            self._chart = values["data-chart"] or ""
            self.tables[self._chart] = []
        if tag == "tr" and self._chart:
            self.tables[self._chart].append([])
        if tag in ("td", "th"):
            self._in_cell, self._text = True, ""

    def handle_data(self, data: str) -> None:
        self._text += data if self._in_cell else ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._chart:
            self.tables[self._chart][-1].append(self._text.strip())
        if tag in ("td", "th"):
            self._in_cell = False


def show(browser: Client, stream: Stream, query: str = "", *, status: int = 200, **headers: str) -> Shown:
    answer = browser.get(f"/streams/{stream.client_id}/dashboard/?{query}", headers=headers)
    assert answer.status_code == status, answer.content.decode()
    return Shown(answer.content.decode())
