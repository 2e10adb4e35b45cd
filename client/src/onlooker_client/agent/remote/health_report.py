"""The health report of an enrolled device, as its console takes it once a minute."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onlooker_client.agent.frame_counts import Counts
from onlooker_client.agent.remote.machine import read_machine
from onlooker_client.agent.remote.state_file import TrialOutcome
from onlooker_client.enrolment.console_request import describe_machine
from onlooker_client.version import VERSION

NAME_AT_MOST = 200


@dataclass(frozen=True)
class AgentFacts:
    """A running agent at one moment."""

    state: str
    uptime_s: float
    camera_name: str
    """Without a password."""
    camera_state: str
    camera_since_s: float
    condition: str
    """Empty while the camera is not open."""
    light: float | None
    counts: Counts
    latency_s: float | None
    """Of frames; None where none were sent."""
    journal: dict[str, Any] | None
    """As the delivery tells it; None where there is none."""
    is_computed_here: bool = False

    @property
    def has_pictures(self) -> bool:
        return self.camera_state == "open" and self.condition != "no_frame"


@dataclass(frozen=True)
class LineHealth:
    """What the last report showed of the line."""

    clock_off_s: float | None = None
    took_s: float | None = None


def build_report(
    facts: AgentFacts, outcome: TrialOutcome, line: LineHealth, *, kbytes_s: float | None, folder: Path
) -> dict[str, Any]:
    latency_s = line.took_s if facts.is_computed_here or facts.latency_s is None else facts.latency_s
    return {
        "version": VERSION,
        "machine": describe_machine()["machine"],
        "uptime_s": round(facts.uptime_s),
        "state": facts.state,
        "camera": {
            "name": facts.camera_name[:NAME_AT_MOST],
            "state": facts.camera_state,
            "since_s": round(max(facts.camera_since_s, 0.0)),
        },
        "frames": {"grabbed": facts.counts.grabbed, "answered": facts.counts.answered},
        "dropped": dict(facts.counts.dropped),
        "light": None if facts.light is None else round(facts.light, 1),
        "condition": facts.condition,
        **asdict(read_machine(folder)),
        "clock_off_s": line.clock_off_s,
        "line": {
            "latency_ms": None if latency_s is None else round(latency_s * 1000),
            "kbytes_s": None if kbytes_s is None else round(max(kbytes_s, 0.0), 1),
        },
        "journal": _describe_journal(facts.journal),
        "configuration": outcome.said(),
    }


def _describe_journal(said: dict[str, Any] | None) -> dict[str, int] | None:
    if said is None:
        return None
    dropped: dict[str, dict[str, int]] = said.get("dropped") or {}
    return {
        "waiting": int(said.get("waiting_visits") or 0),
        "bytes": int(said.get("journal_bytes") or 0),
        "lost": sum(count for reasons in dropped.values() for count in reasons.values()),
    }
