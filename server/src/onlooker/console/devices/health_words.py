"""What a device's newest health report means, in plain words: what is wrong, and what to do. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from onlooker.console.streams.condition import describe_reason
from onlooker.devices.models import DeviceStatus

SILENT_AFTER = timedelta(minutes=3)
"""Reports come every minute: one may be lost on its way."""
HOT_C = 80.0
"""Where a Raspberry Pi begins to slow itself down."""
LEAST_DISK_MB = 500
LEAST_DISK_SHARE = 0.05
CLOCK_OFF_S = 30.0
SLOW_LINE_MS = 2000.0
GONE = "No report for {}. Check its power and its network."

CONDITIONS = {
    "fine": "Works",
    "silent": "Silent",
    "never": "Never reported",
    "no_camera": "No camera",
    "no_frame": "No pictures",
    "black": "Black",
    "covered": "Covered",
    "dark": "Too dark",
    "overexposed": "Overexposed",
    "blurred": "Blurred",
    "frozen": "Frozen",
    "moved": "Moved",
    "offline": "Frames not answered",
    "refused": "Frames refused",
    "degraded": "Degraded",
    "starting": "Starting",
    "closed": "Closed",
    "stopping": "Stopped",
}
"""What the fleet is counted by; problems are those below."""
PROBLEMS = (
    *("silent", "no_camera", "no_frame", "black", "covered", "dark", "overexposed", "blurred", "frozen", "moved"),
    *("offline", "refused", "degraded"),
)
RESTING = ("closed", "stopping")
"""States in which nobody minds what the picture shows."""
_STATES = {
    "offline": "The device reports, but its frames get no answer. Check the address of the gateway and the firewall.",
    "refused": "The server refuses the frames. Open the stream: its page says why.",
    "no_camera": "The device can't open its camera. Check the camera's cable and power.",
    "no_frame": "The camera is connected but gives no pictures. Restart it.",
    "degraded": "Some frames can't be computed. Look at the dropped frames below.",
    "closed": "Outside the opening hours nothing is sent or computed.",
    "starting": "Its agent has just started.",
    "stopping": "Its agent was told to stop.",
    "moved": "The camera was turned, and learns its new view.",
}
CONFIGURATION_STATES = {
    "applied": "Applied",
    "new": "Waiting",
    "trying": "On trial",
    "refused": "Refused",
    "rolled_back": "Rolled back",
    "none": "No version yet",
}
_CONFIGURATION_ADVICE = {
    "refused": "The device refused version {version}. Change the setting that it names.",
    "rolled_back": "The device went back to the version before {version}: it worked worse with the new one. Change the "
    "setting that it names.",
}


@dataclass(frozen=True)
class HealthFinding:
    """One thing that somebody should know about a device."""

    sign: str
    """The class of its badge: `live` (well), `silent` (needs a look), `quota` (wrong), `never` (nothing to say)."""
    label: str
    words: str
    """What is so, and what to do."""


def sign_of(condition: str) -> str:
    """The class of its badge."""
    if condition == "fine":
        return "live"
    if condition not in PROBLEMS:
        return "never"
    return "silent" if condition in ("silent", "degraded", "dark", "blurred", "moved") else "quota"


def sign_of_configuration(state: str) -> str:
    return {"applied": "live", "refused": "quota", "rolled_back": "quota"}.get(state, "never")


def condition_of(status: DeviceStatus | None, now: datetime) -> str:
    """One of CONDITIONS; what the database counts by is the same, see device_filter.py."""
    if status is None:
        return "never"
    if status.reported_at < now - SILENT_AFTER:
        return "silent"
    if status.state in RESTING:
        return status.state
    if status.condition not in ("", "fine"):
        return status.condition
    return "fine" if status.state == "running" else status.state


def name_condition(condition: str) -> str:
    """A newer agent may know more of them."""
    return CONDITIONS.get(condition) or condition.replace("_", " ").capitalize()


def explain_status(status: DeviceStatus | None, now: datetime) -> list[HealthFinding]:
    """What is wrong, the worst first; one line that says that nothing is."""
    if status is None:
        words = "This device has not reported its health yet. Reports begin a minute after its agent starts."
        return [HealthFinding("never", CONDITIONS["never"], words)]
    if status.reported_at < now - SILENT_AFTER:
        return [HealthFinding("silent", CONDITIONS["silent"], GONE.format(_for(now - status.reported_at)))]
    found = [*_explain_camera(condition_of(status, now)), *_explain_machine(status.health)]
    return found or [HealthFinding("live", CONDITIONS["fine"], "The camera gives pictures, and they are answered.")]


def _explain_camera(condition: str) -> Iterator[HealthFinding]:
    """A newer agent may know conditions that nobody here has heard of."""
    if condition == "fine":
        return
    known = _STATES.get(condition) or describe_reason(condition)
    words = known or f"The agent says {condition.replace('_', ' ')}. Look at its log on the device."
    yield HealthFinding(sign_of(condition), name_condition(condition), words)


def _explain_machine(health: Mapping[str, Any]) -> Iterator[HealthFinding]:
    """What the box says of itself. A report may leave out anything."""
    temperature = health.get("temperature_c")
    if temperature is not None and temperature >= HOT_C:
        words = (
            f"The device is {temperature:.0f} °C hot and slows itself down. Give it air, or let it send fewer frames."
        )
        yield HealthFinding("silent", "Hot", words)
    free, total = health.get("disk_free_mb"), health.get("disk_total_mb")
    if free is not None and (free < LEAST_DISK_MB or (total and free < LEAST_DISK_SHARE * total)):
        yield HealthFinding(
            "silent", "Disk full", f"Only {free:,.0f} MB are free on its disk. Delete what is not needed."
        )
    off_s = health.get("clock_off_s")
    if off_s is not None and abs(off_s) > CLOCK_OFF_S:
        words = f"Its clock is wrong by {abs(off_s):,.0f} s. Switch on its time service: timedatectl set-ntp true"
        yield HealthFinding("silent", "Clock wrong", words)
    latency = (health.get("line") or {}).get("latency_ms")
    if latency is not None and latency > SLOW_LINE_MS:
        words = f"An answer takes {latency / 1000:.1f} s. Check its network, or let it send smaller frames."
        yield HealthFinding("silent", "Slow line", words)
    lost = (health.get("journal") or {}).get("lost")
    if lost:
        words = f"{lost:,} visits were lost: its journal was full while the server was away. Check its network."
        yield HealthFinding("quota", "Visits lost", words)


def explain_configuration(state: str, version: int, reason: str) -> HealthFinding | None:
    """Where the device did not take its newest version."""
    advice = _CONFIGURATION_ADVICE.get(state)
    if advice is None:
        return None
    said = f" It says: {reason}" if reason else ""
    return HealthFinding("quota", CONFIGURATION_STATES[state], advice.format(version=version) + said)


def _for(time: timedelta) -> str:
    minutes = int(time.total_seconds() // 60)
    if minutes < 120:
        return f"{minutes} minutes"
    return f"{minutes // 60} hours" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days"
