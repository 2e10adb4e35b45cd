"""A batch of visits and coverage as it travels: within the bounds that the server has. Pure."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from onlooker_client.device.journal_rows import WaitingSlot, WaitingVisit
from onlooker_client.wire.attachments import Body

MOST_ITEMS = 500
"""Visits, and as many slots."""
MOST_SENT_BYTES = 120 * 1024
MOST_BYTES = 1000 * 1024
"""Before deflating. Both a little less than the server takes."""


@dataclass(frozen=True)
class VisitBatch:
    """Some of what waits, oldest first."""

    visits: Sequence[WaitingVisit]
    slots: Sequence[WaitingSlot]

    def __len__(self) -> int:
        return len(self.visits) + len(self.slots)

    def halved(self) -> VisitBatch:
        """About the first half; one item stays."""
        if len(self) <= 1:
            return self
        if not self.visits or not self.slots:
            return VisitBatch(self.visits[: (len(self.visits) + 1) // 2], self.slots[: (len(self.slots) + 1) // 2])
        return VisitBatch(self.visits[: (len(self.visits) + 1) // 2], self.slots[: len(self.slots) // 2])

    def encode(self, device: str, sent_ms: int, *, is_whole: bool = False) -> tuple[Body, int]:
        """Deflated, and how many bytes it was before. `is_whole`: nothing else waits."""
        fields: dict[str, Any] = {"device": device, "sent_at": format_moment(sent_ms)}
        if is_whole:
            fields["whole"] = True
        if self.visits:
            fields["visits"] = [visit.wire for visit in self.visits]
        if self.slots:
            fields["coverage"] = [slot.wire for slot in self.slots]
        plain = json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()
        return Body(zlib.compress(plain, 6), "application/json", "deflate"), len(plain)

    def fitted(self, device: str, sent_ms: int, *, is_whole: bool = False) -> tuple[VisitBatch, Body]:
        """As much of it as the server takes in one request."""
        batch = self
        while True:
            body, plain_bytes = batch.encode(device, sent_ms, is_whole=is_whole and batch is self)
            fits = len(body.content) <= MOST_SENT_BYTES and plain_bytes <= MOST_BYTES
            if fits or len(batch) <= 1:
                return batch, body
            batch = batch.halved()

    def refused_in(self, answer: dict[str, Any]) -> Counter[tuple[str, str]]:
        """What the server refused for good, by kind and code; an open visit counts when it has ended."""
        ended = {visit.id for visit in self.visits if visit.wire.get("ended")}
        refused: Counter[tuple[str, str]] = Counter()
        told = answer.get("refused")
        for item in told if isinstance(told, list) else []:
            if not isinstance(item, dict):
                continue
            code = str(item.get("code") or "unknown")
            if "slot" in item:
                refused[("slots", code)] += 1
            elif item.get("visit") in ended:
                refused[("visits", code)] += 1
        return refused


def format_moment(unix_ms: int) -> str:
    moment = datetime.fromtimestamp(unix_ms / 1000, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
