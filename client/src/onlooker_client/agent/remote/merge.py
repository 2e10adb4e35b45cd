"""A document over the options of a run: what the command line sets wins, and what is left says how to apply it."""

from __future__ import annotations

from dataclasses import replace

from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.remote.settings import RemoteSettings
from onlooker_client.agent.remote.week_hours import find_zone
from onlooker_client.device.compute_options import DEVICE

_FIELDS = {
    "source": "source",
    "fps": "fps",
    "idle_fps": "idle_fps",
    "width": "width_px",
    "height": "height_px",
    "quality": "quality",
    "max_kbytes": "max_kbytes",
}
RATES = frozenset({"fps", "idle_fps", "max_kbytes"})
"""Fields that change while the agent runs."""
FIXED = "set by the device's command line, which wins."
NO_ZONE = "hours: this device does not know the time zone, so the stream's own hours hold. Install tzdata."


def merge_settings(base: AgentOptions, settings: RemoteSettings, fixed: frozenset[str]) -> AgentOptions:
    given = {name: value for name, value in settings.named().items() if name not in fixed}
    merged = replace(base, **{field: given[name] for name, field in _FIELDS.items() if name in given})
    if "compute" in given:
        merged = replace(merged, computes_here=given["compute"] == DEVICE, is_compute_fixed=True)
    return replace(merged, idle_fps=min(merged.idle_fps, merged.fps))


def find_changes(before: AgentOptions, after: AgentOptions) -> set[str]:
    """Names of the fields that a document can change, and that differ."""
    names = (*_FIELDS.values(), "computes_here")
    return {name for name in names if getattr(before, name) != getattr(after, name)}


def find_remarks(settings: RemoteSettings, fixed: frozenset[str]) -> str:
    """What is not as the document says though it is applied, as sentences."""
    named = [name for name in settings.named() if name in fixed]
    remarks = [f"{', '.join(named)}: {FIXED}"] if named else []
    if settings.hours and find_zone(settings.time_zone) is None:
        remarks.append(NO_ZONE)
    return " ".join(remarks)
