"""What a device's newest health report means, in plain words: what is wrong, and what to do. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, pgettext

from onlooker.console.languages.locale_text import translate, write_count, write_decimal
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

CONDITIONS = {
    "fine": gettext_noop("Works"),
    "silent": gettext_noop("Silent"),
    "never": gettext_noop("Never reported"),
    "no_camera": gettext_noop("No camera"),
    "no_frame": gettext_noop("No pictures"),
    "black": gettext_noop("Black"),
    "covered": gettext_noop("Covered"),
    "dark": gettext_noop("Too dark"),
    "overexposed": gettext_noop("Overexposed"),
    "blurred": gettext_noop("Blurred"),
    "frozen": gettext_noop("Frozen"),
    "moved": gettext_noop("Moved"),
    "offline": gettext_noop("Frames not answered"),
    "refused": gettext_noop("Frames refused"),
    "degraded": gettext_noop("Degraded"),
    "starting": gettext_noop("Starting"),
    "closed": gettext_noop("Closed"),
    "stopping": gettext_noop("Agent stopped"),
}
"""What the fleet is counted by; problems are those below."""
PROBLEMS = (
    *("silent", "no_camera", "no_frame", "black", "covered", "dark", "overexposed", "blurred", "frozen", "moved"),
    *("offline", "refused", "degraded"),
)
RESTING = ("closed", "stopping")
"""States in which nobody minds what the picture shows."""
_STATES = {
    "offline": gettext_noop(
        "The device reports, but its frames get no answer. Check the address of the gateway and the firewall."
    ),
    "refused": gettext_noop("The server refuses the frames. Open the stream: its page says why."),
    "no_camera": gettext_noop("The device can't open its camera. Check the camera's cable and power."),
    "no_frame": gettext_noop("The camera is connected but gives no pictures. Restart it."),
    "degraded": gettext_noop("Some frames can't be computed. Look at the dropped frames below."),
    "closed": gettext_noop("Outside the opening hours nothing is sent or computed."),
    "starting": gettext_noop("Its agent has just started."),
    "stopping": gettext_noop("Its agent was told to stop."),
    "moved": gettext_noop("The camera was turned, and learns its new view."),
}
CONFIGURATION_STATES = {
    "applied": gettext_noop("Applied"),
    "new": gettext_noop("Waiting"),
    "trying": gettext_noop("On trial"),
    "refused": gettext_noop("Refused"),
    "rolled_back": gettext_noop("Rolled back"),
    "none": gettext_noop("No version yet"),
}
_CONFIGURATION_ADVICE = {
    "refused": gettext_noop("The device refused version {version}. Change the setting that it names."),
    "rolled_back": gettext_noop(
        "The device went back to the version before {version}: it worked worse with the new one. Change the "
        "setting that it names."
    ),
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
    known = CONDITIONS.get(condition)
    return _(known) if known else condition.replace("_", " ").capitalize()


def name_configuration(state: str) -> str:
    """A newer agent may know more of them."""
    return translate(CONFIGURATION_STATES.get(state, state))


def name_camera_state(state: str) -> str:
    """A newer agent may know more of them."""
    known = {
        "open": pgettext("camera", "open"),
        "lost": pgettext("camera", "lost"),
        "waiting": pgettext("camera", "waiting"),
    }
    return known.get(state, state)


def explain_status(status: DeviceStatus | None, now: datetime) -> list[HealthFinding]:
    """What is wrong, the worst first; one line that says that nothing is."""
    if status is None:
        words = _("This device has not reported its health yet. Reports begin a minute after its agent starts.")
        return [HealthFinding("never", name_condition("never"), words)]
    if status.reported_at < now - SILENT_AFTER:
        return [HealthFinding("silent", name_condition("silent"), _explain_silence(now - status.reported_at))]
    found = [*_explain_camera(condition_of(status, now)), *_explain_machine(status.health)]
    words = _("The camera gives pictures, and they are answered.")
    return found or [HealthFinding("live", name_condition("fine"), words)]


def _explain_silence(time: timedelta) -> str:
    minutes = int(time.total_seconds() // 60)
    if minutes < 120:
        return ngettext(
            "No report for {count} minute. Check its power and its network.",
            "No report for {count} minutes. Check its power and its network.",
            minutes,
        ).format(count=minutes)
    hours = minutes // 60
    if hours < 48:
        return ngettext(
            "No report for {count} hour. Check its power and its network.",
            "No report for {count} hours. Check its power and its network.",
            hours,
        ).format(count=hours)
    days = hours // 24
    return ngettext(
        "No report for {count} day. Check its power and its network.",
        "No report for {count} days. Check its power and its network.",
        days,
    ).format(count=days)


def _explain_camera(condition: str) -> Iterator[HealthFinding]:
    """A newer agent may know conditions that nobody here has heard of."""
    if condition == "fine":
        return
    words = translate(_STATES.get(condition) or describe_reason(condition))
    if not words:
        said = condition.replace("_", " ")
        words = _("The agent says {condition}. Look at its log on the device.").format(condition=said)
    yield HealthFinding(sign_of(condition), name_condition(condition), words)


def _explain_machine(health: Mapping[str, Any]) -> Iterator[HealthFinding]:
    """What the box says of itself. A report may leave out anything."""
    temperature = health.get("temperature_c")
    if temperature is not None and temperature >= HOT_C:
        words = _(
            "The device is {degrees} °C hot and slows itself down. Give it air, or let it send fewer frames."
        ).format(degrees=write_decimal(temperature, 0))
        yield HealthFinding("silent", _("Hot"), words)
    free, total = health.get("disk_free_mb"), health.get("disk_total_mb")
    if free is not None and (free < LEAST_DISK_MB or (total and free < LEAST_DISK_SHARE * total)):
        words = _("Only {megabytes} MB are free on its disk. Delete what is not needed.")
        yield HealthFinding("silent", _("Disk full"), words.format(megabytes=write_count(free)))
    off_s = health.get("clock_off_s")
    if off_s is not None and abs(off_s) > CLOCK_OFF_S:
        words = _("Its clock is wrong by {seconds} s. Switch on its time service: timedatectl set-ntp true")
        yield HealthFinding("silent", _("Clock wrong"), words.format(seconds=write_count(abs(off_s))))
    yield from _explain_line(health)


def _explain_line(health: Mapping[str, Any]) -> Iterator[HealthFinding]:
    """Whether the server hears of everything in time."""
    latency = (health.get("line") or {}).get("latency_ms")
    if latency is not None and latency > SLOW_LINE_MS:
        words = _("An answer takes {seconds} s. Check its network, or let it send smaller frames.")
        yield HealthFinding("silent", _("Slow line"), words.format(seconds=write_decimal(latency / 1000, 1)))
    lost = (health.get("journal") or {}).get("lost")
    if lost:
        words = ngettext(
            "{count} visit was lost: its journal was full while the server was away. Check its network.",
            "{count} visits were lost: its journal was full while the server was away. Check its network.",
            lost,
        )
        yield HealthFinding("quota", _("Visits lost"), words.format(count=write_count(lost)))


def explain_configuration(state: str, version: int, reason: str) -> HealthFinding | None:
    """Where the device did not take its newest version."""
    advice = _CONFIGURATION_ADVICE.get(state)
    if advice is None:
        return None
    words = _(advice).format(version=version)
    if reason:
        words += " " + _("It says: {reason}").format(reason=reason)
    return HealthFinding("quota", name_configuration(state), words)
