"""Says what changes: in the log, to systemd, and in the health report."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import datetime
from typing import Any

from onlooker_client.agent.drops import Drop
from onlooker_client.agent.plan import Plan
from onlooker_client.agent.sending.holding import ASKS_AGAIN, in_words
from onlooker_client.agent.telling import words
from onlooker_client.agent.telling.health import write_report
from onlooker_client.agent.telling.journal import Journal
from onlooker_client.agent.telling.situation import Awareness, Situation
from onlooker_client.agent.telling.systemd import Systemd
from onlooker_client.version import VERSION

HEALTH_EVERY_S = 5.0
STATUS_EVERY_S = 60.0
GAPS = ("offline", "refused")
_CONDITIONS = {
    "black": "The picture is black: is the lens covered, or the light off?",
    "frozen": "The camera gives the same picture again and again: unplug it and plug it in, or restart it.",
    "no_frame": "The camera gives no pictures.",
}


class Reporter:
    """To be called every second or so, by one thread."""

    def __init__(self, awareness: Awareness, plan: Plan, journal: Journal, *, source: str, server: str) -> None:
        self._awareness = awareness
        self._plan = plan
        self._journal = journal
        self._source, self.server = source, server
        self._systemd = Systemd()
        now = time.monotonic()
        self._state, self._since = "", datetime.now().astimezone()
        self._condition = "fine"
        self._gap: tuple[float, int] | None = None
        """When the last frame before a gap was answered, and how many had been dropped until then."""
        self._written_at = float("-inf")
        self._minute_began_at = self._second_began_at = now
        self._minute_counts = self._second_counts = awareness.tally.read()
        self._rate = 0.0

    def tick(self, now: float) -> None:
        situation = self._awareness.read(now)
        has_changed = situation.state != self._state
        if has_changed:
            self._state, self._since = situation.state, datetime.now().astimezone()
        self._report_condition(situation)
        self._report_gap(situation, now)
        self._report_failures(situation)
        self._report_rates(situation, now)
        self._systemd.tell("WATCHDOG=1", f"STATUS={_status(situation, self._rate).strip()}")
        if has_changed or now - self._written_at >= HEALTH_EVERY_S:
            self._written_at = now
            self.write_health()

    def ready(self) -> None:
        self._systemd.tell("READY=1")

    def stopping(self) -> None:
        self._systemd.tell("STOPPING=1")

    def close(self) -> None:
        self._write({**self.health(), "state": "stopped"})
        self._systemd.close()

    def health(self) -> dict[str, Any]:
        """For a machine that asks."""
        now = time.monotonic()
        situation, counts = self._awareness.read(now), self._awareness.tally.read()
        trouble, size_px = situation.trouble, situation.camera.size_px
        return {
            "at": datetime.now().astimezone().isoformat(timespec="seconds"),
            "state": situation.state,
            "since": self._since.isoformat(timespec="seconds"),
            "version": VERSION,
            "uptime_s": round(now - self._awareness.began_at, 1),
            "server": self.server,
            "source": self._source,
            "people_in_view": situation.people,
            "newest_answered_frame_age_s": _rounded(situation.answer_age_s),
            "latency_s": _rounded(situation.latency_s),
            "frames_per_second": round(self._rate, 1),
            "camera": {
                "state": situation.camera.state,
                "detail": situation.camera.detail,
                "condition": situation.camera.condition,
                "size_px": list(size_px) if size_px else None,
            },
            "trouble": {"reason": trouble.reason.value, "text": trouble.text} if trouble else None,
            "counts": {**asdict(counts), "adds_up": counts.adds_up},
        }

    def write_health(self) -> None:
        if self._plan.health_file is not None:
            self._write(self.health())

    def _write(self, report: dict[str, Any]) -> None:
        if self._plan.health_file is None:
            return
        try:
            write_report(self._plan.health_file, report)
        except OSError as error:
            self._journal.warn_once("health", f"{self._plan.health_file} can't be written: {error.strerror}.")

    def _report_condition(self, situation: Situation) -> None:
        condition = situation.camera.condition if situation.camera.state == "open" else "fine"
        if condition != self._condition:
            if condition in _CONDITIONS:
                self._journal.warning("camera_condition", _CONDITIONS[condition], condition=condition)
            elif situation.camera.state == "open":
                self._journal.info("camera_condition", "The picture is fine again.", condition=condition)
            self._condition = condition

    def _report_gap(self, situation: Situation, now: float) -> None:
        """One line when answers stop coming, and one when they are back."""
        awareness = self._awareness
        if situation.state in GAPS:
            if self._gap is None:
                self._gap = (awareness.answered_at or awareness.began_at, awareness.dropped_before)
            self._journal.warn_once(situation.state, self._why(situation), once="gap", **_facts(situation))
        elif self._gap is not None and situation.state in ("running", "degraded"):
            (last_at, dropped), self._gap = self._gap, None
            missed, lasted_s = awareness.dropped_before - dropped, (awareness.answered_at or now) - last_at
            text = f"Back after {words.duration(lasted_s)}, with no answers to {words.frames(missed)}."
            self._journal.info("back", text, gap_s=round(lasted_s, 1), frames_missed=missed)
            self._journal.forget()

    def _why(self, situation: Situation) -> str:
        if self._awareness.refused is not None:
            return f"{in_words(self._awareness.refused)} {ASKS_AGAIN}"
        if situation.trouble is None:
            return f"{self.server} does not answer. No frames are kept; the agent goes on trying."
        return f"{situation.trouble.text} No frames are kept; the agent goes on trying."

    def _report_failures(self, situation: Situation) -> None:
        trouble = situation.trouble
        if trouble is not None and trouble.reason is Drop.COMPUTATION_FAILED:
            self._journal.warn_once("computation_failed", f"The server could not compute a frame: {trouble.text}")

    def _report_rates(self, situation: Situation, now: float) -> None:
        counts = self._awareness.tally.read()
        elapsed_s = now - self._second_began_at
        if elapsed_s >= 2.0:
            self._rate = (counts.answered - self._second_counts.answered) / elapsed_s
            self._second_began_at, self._second_counts = now, counts
        self._journal.show_status(_status(situation, self._rate))
        elapsed_s = now - self._minute_began_at
        if elapsed_s >= STATUS_EVERY_S:
            text = words.minute(self._minute_counts, counts, elapsed_s, self._awareness.take_latencies())
            self._journal.info("status", f"{words.people(situation.people)}; {text}", **asdict(counts))
            self._minute_began_at, self._minute_counts = now, counts


def _status(situation: Situation, rate: float) -> str:
    """The line beneath the log in a terminal."""
    said = f" {situation.state.replace('_', ' ').capitalize()}   {words.people(situation.people)}   {rate:.1f} frames/s"
    if situation.latency_s is not None:
        said += f"   {words.milliseconds(situation.latency_s)}"
    return said + "   Ctrl-C stops"


def _facts(situation: Situation) -> dict[str, Any]:
    return {"reason": situation.trouble.reason.value} if situation.trouble else {}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
