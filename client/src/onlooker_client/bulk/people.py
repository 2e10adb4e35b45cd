"""Who was seen so far, counted from the answers alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onlooker_client.scene import ids_in_view

PASSES_S = 1.0
"""Who is in view for so long passes by."""


@dataclass
class People:
    """When each was in view first and last; ids mean nothing beyond the session."""

    _seen: dict[str, tuple[float, float]] = field(default_factory=dict)
    most_at_once: int = 0

    def add(self, answer: Mapping[str, Any], seconds: float) -> None:
        present = ids_in_view(answer)
        self.most_at_once = max(self.most_at_once, len(present))
        for person in present:
            first_s, _ = self._seen.get(person, (seconds, seconds))
            self._seen[person] = (first_s, seconds)

    @property
    def passed(self) -> int:
        """About what `passing_by` will be: the server also knows the moments before it was sure of somebody."""
        return sum(last_s - first_s >= PASSES_S for first_s, last_s in self._seen.values())
