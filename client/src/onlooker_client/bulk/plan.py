"""What is to be sent and when it was filmed, checked before the first frame goes out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from onlooker_client.errors import BadArgument
from onlooker_client.moments import read_moment

AHEAD_OF_SERVER_S = 300.0
"""The server refuses what lies further in the future."""


@dataclass(frozen=True)
class Plan:
    """One video at its place in time."""

    video: Path
    start: datetime
    """When its second 0 was filmed."""
    duration_s: float
    """As the file says; 0 where it does not."""
    from_s: float
    """Where to begin: what lies before was sent earlier."""

    def moment(self, seconds: float) -> datetime:
        return self.start + timedelta(seconds=seconds)

    @property
    def end(self) -> datetime:
        return self.moment(self.duration_s)


def place_in_time(duration_s: float, *, start: str | None, end: str | None) -> datetime:
    """When the video begins, from the one of both that was given."""
    if start is not None:
        return read_filmed("--start", start)
    if end is None:
        raise BadArgument(f"When was it filmed? Give --start, such as --start {example()}")
    if duration_s <= 0:
        raise BadArgument("The video does not say how long it is. Give --start in place of --end.")
    return read_filmed("--end", end) - timedelta(seconds=duration_s)


def read_filmed(option: str, text: str) -> datetime:
    try:
        moment = read_moment(text)
    except ValueError:
        raise BadArgument(f"{option} {text} is no moment. One looks like {example()}") from None
    if moment.tzinfo is None:
        local = moment.astimezone()
        raise BadArgument(
            f"{option} {text} needs its UTC offset. With the offset of this machine: "
            f"{option} {local.isoformat(timespec='minutes' if not local.second else 'seconds')}"
        )
    return moment


def check_times(plan: Plan, *, now: datetime, retention_days: int | None) -> None:
    """The server would refuse each frame; say it once instead, before any is sent."""
    if (plan.end - now).total_seconds() > AHEAD_OF_SERVER_S:
        raise BadArgument(
            f"The video would end at {shown(plan.end)}, which is in the future. Is the date in --start right?"
        )
    if retention_days is not None and plan.moment(plan.from_s) < now - timedelta(days=retention_days):
        raise BadArgument(
            f"The stream keeps its visits for {retention_days} days, and {shown(plan.moment(plan.from_s))} is longer "
            "ago. Is the date in --start right? The stream's settings in the console say how long visits are kept."
        )


def read_seconds(text: str) -> float:
    """`90`, `1:30` or `2:01:30`."""
    seconds = 0.0
    for part in text.split(":"):
        seconds = seconds * 60 + float(part)
    if not 0 <= seconds < float("inf"):
        raise ValueError(text)
    return seconds


def clock(seconds: float) -> str:
    """`1:30` or `2:01:30`, as players show it."""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def shown(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="seconds")


def example() -> str:
    return datetime.now().astimezone().replace(hour=9, minute=0).isoformat(timespec="minutes")
