"""Numbers as people read them in a log."""

from __future__ import annotations

from onlooker_client.agent.drops import Drop
from onlooker_client.agent.tally import Counts
from onlooker_client.scene import in_view


def duration(seconds: float) -> str:
    """Such as 3 min 12 s."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest_s = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest_s} s"
    hours, rest_min = divmod(minutes, 60)
    return f"{hours} h {rest_min} min" if hours < 48 else f"{hours // 24} days {hours % 24} h"


def frames(count: int) -> str:
    return f"{count:,} frame{'' if count == 1 else 's'}"


def people(count: int | None) -> str:
    said = "no answer" if count is None else in_view(count)
    return said[0].upper() + said[1:]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def drops(dropped: dict[str, int]) -> str:
    """By reason, the most frequent first."""
    return ", ".join(f"{count:,} {name}" for name, count in sorted(dropped.items(), key=lambda item: -item[1]) if count)


def minute(before: Counts, after: Counts, over_s: float, latencies_s: list[float]) -> str:
    """What happened between two readings."""
    answered, idle = after.answered - before.answered, after.idle - before.idle
    dropped = {name: count - before.dropped.get(name, 0) for name, count in after.dropped.items()}
    said = f"{answered / over_s:.1f} frames/s answered"
    if latencies_s:
        said += f" in {milliseconds(latencies_s[len(latencies_s) // 2])}"
    said += f", {(after.sent_bytes - before.sent_bytes) / over_s / 1000:.0f} KB/s"
    if idle:
        said += f"; {frames(idle)} not needed"
    if any(dropped.values()):
        said += f"; dropped: {drops(dropped)}"
    return said


def summary(counts: Counts, over_s: float) -> str:
    """The last line."""
    said = f"Stopped after {duration(over_s)}: {frames(counts.grabbed)}, {counts.answered:,} answered"
    if counts.idle:
        said += f", {counts.idle:,} not needed"
    lost = {name: count for name, count in counts.dropped.items() if name != Drop.STOPPED.value or count}
    return f"{said}; dropped: {drops(lost)}" if any(lost.values()) else f"{said}, none dropped"
