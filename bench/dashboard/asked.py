"""The numbers as the data endpoint gives them to any program with a token."""

import time as clock
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import httpx2

from bench.data_client import ENTITIES
from onlooker.metrics.definitions import METRICS

RATE_LIMITED = 429
Entities = dict[str, dict[str, dict[str, Any]]]


@dataclass(frozen=True)
class Source:
    """A stream's numbers, in its own zone."""

    client: httpx2.Client
    zone: str

    def ask(self, from_date: str, to_date: str, *, time: str = "global", metrics: Iterable[str] = METRICS) -> Entities:
        """All buckets of a range, page after page."""
        wanted = {"metrics": ",".join(metrics), "time": time, "tz": self.zone}
        answer = self._get(ENTITIES, wanted | {"from_date": from_date, "to_date": to_date})
        entities: Entities = answer["entities"]
        while answer["next_page"]:
            answer = self._get(answer["next_page"], None)
            entities |= answer["entities"]
        return entities

    def totals(self, from_date: str, to_date: str) -> dict[str, dict[str, Any]]:
        (values,) = self.ask(from_date, to_date).values()
        return values

    def _get(self, url: str, parameters: dict[str, str] | None) -> Any:
        answer = self.client.get(url, params=parameters)
        while answer.status_code == RATE_LIMITED:
            clock.sleep(float(answer.headers["Retry-After"]))
            answer = self.client.get(url, params=parameters)
        if answer.status_code != 200:
            raise RuntimeError(f"The data endpoint answered {answer.status_code}: {answer.text[:300]}")
        return answer.json()
