"""A server that takes batches of visits as the real one does, in memory: the oracle of what a device sends."""

import json
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from onlooker_client.errors import BadRequest, LinkError, NotNow
from onlooker_client.wire.attachments import Body

MOST_SENT_BYTES, MOST_BYTES, MOST_ITEMS = 128 * 1024, 1024 * 1024, 500


@dataclass
class VisitServer:
    """In the place of a `Transport`. `faults` are used up one a batch."""

    now_s: Callable[[], float]
    faults: list[str] = field(default_factory=list)
    """`down`: nothing arrives. `lost`: all is taken, and the answer is lost. `busy`. `bad`: called malformed."""
    client_id: str = "1b671a64-40d5-491e-99b0-da01ff1f3341"
    retention_days: int = 90
    poison: str = ""
    """A visit that is always called malformed."""
    visits: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    """By start and id, as the table has them."""
    coverage: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    """By device and slot, the newest sums."""
    batches: int = 0
    wholes: list[bool] = field(default_factory=list)
    """Of each batch, whether the device had nothing else."""
    sizes: list[tuple[int, int]] = field(default_factory=list)
    """Bytes as sent, and visits."""

    def request_json(self, method: str, path: str, body: Body | None = None, **_: object) -> dict[str, Any]:
        if method == "GET":
            assert path == "/stream"
            self._break("down")
            settings = {"compute": "device", "retention_days": self.retention_days, "reads": {"age": True}}
            return {"client_id": self.client_id, "now": self._now(), **settings}
        assert (method, path) == ("POST", "/services/scene_analysis/1/visits")
        assert body
        assert body.encoding == "deflate"
        self._break("down", "busy", "bad")
        batch = self._read(body)
        self.batches += 1
        self.wholes.append(batch.get("whole", False))
        for visit in batch.get("visits", []):
            self._take_visit(visit)
        for slot in batch.get("coverage", []):
            known = self.coverage.get((batch["device"], slot["slot"]))
            if known is None or known["revision"] < slot["revision"]:
                self.coverage[batch["device"], slot["slot"]] = slot
        self._break("lost")
        counts = {"visits": len(batch.get("visits", [])), "coverage": len(batch.get("coverage", []))}
        return {"now": self._now(), "accepted": counts, "refused": []}

    def totals(self) -> Counter[int]:
        """Milliseconds that were watched, by slot."""
        sums: Counter[int] = Counter()
        for (_, slot), said in self.coverage.items():
            sums[slot] += round(said["watched_s"] * 1000)
        return sums

    def _read(self, body: Body) -> dict[str, Any]:
        plain = zlib.decompress(body.content)
        assert len(body.content) <= MOST_SENT_BYTES
        assert len(plain) <= MOST_BYTES
        batch: dict[str, Any] = json.loads(plain)
        assert len(batch.get("visits", [])) <= MOST_ITEMS
        assert len(batch.get("coverage", [])) <= MOST_ITEMS
        self.sizes.append((len(body.content), len(batch.get("visits", []))))
        if any(visit["id"] == self.poison for visit in batch.get("visits", [])):
            raise BadRequest(400, {"code": "bad_request", "detail": "One of them is malformed."})
        return batch

    def _take_visit(self, visit: dict[str, Any]) -> None:
        key = (visit["present"][0][0], visit["id"])
        known = self.visits.get(key)
        if known is None or known["revision"] < visit["revision"]:
            self.visits[key] = visit

    def _break(self, *kinds: str) -> None:
        if not self.faults or self.faults[0] not in kinds:
            return
        fault = self.faults.pop(0)
        if fault == "busy":
            raise NotNow(503, {"code": "overloaded", "detail": "Later."}, 1.0)
        if fault == "bad":
            raise BadRequest(400, {"code": "bad_request", "detail": "Malformed."})
        raise LinkError("The connection broke.")

    def _now(self) -> str:
        return datetime.fromtimestamp(self.now_s(), UTC).isoformat(timespec="milliseconds")
