"""Reports changes: in the log, to systemd, and in the health report."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import datetime
from typing import Any, Callable

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.sending.backoff import ASKS_AGAIN, explain_refusal
from onlooker_client.agent.status.condition import ReportCounts
from onlooker_client.agent.status.health import Systemd, write_report
from onlooker_client.agent.status.log import (
    AgentLog,
    format_duration,
    format_frames,
    format_latency,
    format_minute,
    format_people,
)
from onlooker_client.agent.status.state import AgentStatus, StatusTracker
from onlooker_client.version import VERSION

HEALTH_EVERY_S = 5.0
STATUS_EVERY_S = 60.0
GAPS = ("offline", "refused")
_CONDITIONS = {
    "black": "The picture is black: is the lens covered, or the light off?",
    "frozen": "The camera keeps giving the same picture: unplug it and plug it in again, or restart it.",
    "no_frame": "The camera gives no pictures.",
}


class Reporter:
    """To be called every second or so, by one thread."""

    def __init__(
        self,
        tracker: StatusTracker,
        options: AgentOptions,
        log: AgentLog,
        *,
        source: str,
        server: str,
        reports: ReportCounts,
        read_delivery: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        self._tracker = tracker
        self._options = options
        self._log = log
        self._source, self.server = source, server
        self._reports = reports
        self._read_delivery = read_delivery
        self._systemd = Systemd()
        now = time.monotonic()
        self._state, self._since = "", datetime.now().astimezone()
        self._condition = "fine"
        self._gap: tuple[float, int] | None = None
        """When the last frame before a gap was answered, and how many had been dropped until then."""
        self._written_at = float("-inf")
        self._minute_began_at = self._second_began_at = now
        self._minute_counts = self._second_counts = tracker.tally.read()
        self._rate = 0.0

    def tick(self, now: float) -> None:
        status = self._tracker.read(now)
        has_changed = status.state != self._state
        if has_changed:
            self._state, self._since = status.state, datetime.now().astimezone()
        self._report_condition(status)
        self._report_gap(status, now)
        self._report_failures(status)
        self._report_rates(status, now)
        self._systemd.tell("WATCHDOG=1", f"STATUS={_status(status, self._rate).strip()}")
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
        status, counts = self._tracker.read(now), self._tracker.tally.read()
        trouble, size_px = status.trouble, status.camera.size_px
        return {
            "at": datetime.now().astimezone().isoformat(timespec="seconds"),
            "state": status.state,
            "since": self._since.isoformat(timespec="seconds"),
            "version": VERSION,
            "uptime_s": round(now - self._tracker.began_at, 1),
            "server": self.server,
            "compute": "device" if self._options.computes_here else "server",
            "source": self._source,
            "people_in_view": status.people,
            "newest_answered_frame_age_s": _rounded(status.answer_age_s),
            "latency_s": _rounded(status.latency_s),
            "frames_per_second": round(self._rate, 1),
            "camera": {
                "state": status.camera.state,
                "detail": status.camera.detail,
                "condition": status.camera.condition,
                "size_px": list(size_px) if size_px else None,
            },
            "trouble": {"reason": trouble.reason.value, "text": trouble.text} if trouble else None,
            "counts": {**asdict(counts), "adds_up": counts.adds_up},
            "condition_reports": {"delivered": self._reports.delivered, "failed": self._reports.failed},
            **self._read_delivery(),
        }

    def write_health(self) -> None:
        if self._options.health_file is not None:
            self._write(self.health())

    def _write(self, report: dict[str, Any]) -> None:
        if self._options.health_file is None:
            return
        try:
            write_report(self._options.health_file, report)
        except OSError as error:
            self._log.warn_once("health", f"{self._options.health_file} can't be written: {error.strerror}.")

    def _report_condition(self, status: AgentStatus) -> None:
        condition = status.camera.condition if status.camera.state == "open" else "fine"
        if condition != self._condition:
            if condition in _CONDITIONS:
                self._log.warning("camera_condition", _CONDITIONS[condition], condition=condition)
            elif status.camera.state == "open":
                self._log.info("camera_condition", "The picture is fine again.", condition=condition)
            self._condition = condition

    def _report_gap(self, status: AgentStatus, now: float) -> None:
        """One line when answers stop coming, and one when they are back."""
        tracker = self._tracker
        if status.state in GAPS:
            if self._gap is None:
                self._gap = (tracker.answered_at or tracker.began_at, tracker.dropped_before)
            self._log.warn_once(status.state, self._why(status), once="gap", **_facts(status))
        elif self._gap is not None and status.state in ("running", "degraded"):
            (last_at, dropped), self._gap = self._gap, None
            missed, lasted_s = tracker.dropped_before - dropped, (tracker.answered_at or now) - last_at
            text = f"Back after {format_duration(lasted_s)}; {format_frames(missed)} had no answer."
            self._log.info("back", text, gap_s=round(lasted_s, 1), frames_missed=missed)
            self._log.forget()

    def _why(self, status: AgentStatus) -> str:
        if self._tracker.refused is not None:
            return f"{explain_refusal(self._tracker.refused)} {ASKS_AGAIN}"
        if self._options.computes_here:
            return "The computing process does not answer. No frames are counted until it does."
        if status.trouble is None:
            return f"{self.server} does not answer. No frames are stored; the agent keeps trying."
        return f"{status.trouble.text} No frames are stored; the agent keeps trying."

    def _report_failures(self, status: AgentStatus) -> None:
        trouble = status.trouble
        if trouble is not None and trouble.reason is Drop.COMPUTATION_FAILED:
            where = "This device" if self._options.computes_here else "The server"
            self._log.warn_once("computation_failed", f"{where} could not compute a frame: {trouble.text}")

    def _report_rates(self, status: AgentStatus, now: float) -> None:
        counts = self._tracker.tally.read()
        elapsed_s = now - self._second_began_at
        if elapsed_s >= 2.0:
            self._rate = (counts.answered - self._second_counts.answered) / elapsed_s
            self._second_began_at, self._second_counts = now, counts
        self._log.show_status(_status(status, self._rate))
        elapsed_s = now - self._minute_began_at
        if elapsed_s >= STATUS_EVERY_S:
            latencies_s, here = self._tracker.take_latencies(), self._options.computes_here
            text = format_minute(self._minute_counts, counts, elapsed_s, latencies_s, here=here)
            self._log.info("status", f"{format_people(status.people)}; {text}", **asdict(counts))
            self._minute_began_at, self._minute_counts = now, counts


def _status(status: AgentStatus, rate: float) -> str:
    """The line beneath the log in a terminal."""
    said = f" {status.state.replace('_', ' ').capitalize()}   {format_people(status.people)}   {rate:.1f} frames/s"
    if status.latency_s is not None:
        said += f"   {format_latency(status.latency_s)}"
    return said + "   Ctrl-C stops"


def _facts(status: AgentStatus) -> dict[str, Any]:
    return {"reason": status.trouble.reason.value} if status.trouble else {}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
