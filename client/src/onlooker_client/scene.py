"""Who is in view, as an answer of `scene_analysis` says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def ids_in_view(answer: Mapping[str, Any]) -> list[str]:
    """With a face that was seen at least once, or without; whatever else stands there is nobody."""
    seen = (answer.get("entities"), answer.get("bodies"))
    return [person for people in seen if isinstance(people, dict) for person in people]


def count_people(answer: Mapping[str, Any]) -> int:
    return len(ids_in_view(answer))


def in_view(count: int) -> str:
    """In words."""
    return "nobody in view" if count == 0 else f"{count} {'person' if count == 1 else 'people'} in view"
