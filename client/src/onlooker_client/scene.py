"""Who is in view, according to an answer of `scene_analysis`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SceneAnswer = Mapping[str, Any]


def ids_in_view(answer: SceneAnswer) -> list[str]:
    """With a face that was seen at least once, or without; an answer shows who disappears with it once more."""
    gone = _disappearing(answer.get("events"))
    seen = (answer.get("entities"), answer.get("bodies"))
    return [person for people in seen if isinstance(people, dict) for person in people if person not in gone]


def _disappearing(events: Any) -> list[Any]:
    told = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    return [event.get("entity_id") for event in told if event.get("type") == "disappearance"]


def count_people(answer: SceneAnswer) -> int:
    return len(ids_in_view(answer))


def in_view(count: int) -> str:
    """In words."""
    return "nobody in view" if count == 0 else f"{count} {'person' if count == 1 else 'people'} in view"
