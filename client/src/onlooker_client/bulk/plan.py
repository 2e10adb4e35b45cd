"""What is sent and when it was filmed, checked with the server before the first frame goes out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from onlooker_client.client import Client
from onlooker_client.errors import BadArgument, BadRequest, ConfigError, OnlookerError
from onlooker_client.moments import read_moment

AHEAD_OF_SERVER_S = 300.0
"""The server refuses what lies further in the future."""
NOT_FOUND = 404
IN_VIEW_AT_CUT_S = 5.0
"""Who was in view where an earlier part stopped is there so long at most after it, and may count twice."""
NO_NUMBERS = "The summary will have no numbers: "


@dataclass(frozen=True)
class VideoPlan:
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
        raise BadArgument(f"{option} {text} is not a valid time. Example: {example()}") from None
    if moment.tzinfo is None:
        local = moment.astimezone()
        raise BadArgument(
            f"{option} {text} needs its UTC offset. With the offset of this machine: "
            f"{option} {local.isoformat(timespec='minutes' if not local.second else 'seconds')}"
        )
    return moment


def check_times(plan: VideoPlan, *, now: datetime, retention_days: int | None) -> None:
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


def check_stream(client: Client, plan: VideoPlan) -> list[str]:
    """Refuse what can't go well; say what one should know."""
    stream = read_stream(client)
    now = datetime.now(timezone.utc)
    check_times(plan, now=now, retention_days=stream.get("retention_days"))
    if stream.get("state") == "disabled":
        raise ConfigError("The stream is switched off. Enable it in its settings in the console.")
    month = stream.get("month") or {}
    if stream.get("state") == "month_used_up":
        raise ConfigError(f"The stream's month is used up. {month_ends(month.get('resets_at'))}")
    return _notes_on_month(month, plan)


def read_stream(client: Client) -> dict[str, Any]:
    """An older server does not say; then it answers the first frame."""
    try:
        return client.stream()
    except BadRequest as refused:
        if refused.status != NOT_FOUND:
            raise
    client.services()  # tells at once whether Login and Password are right
    return {}


def check_empty(client: Client, plan: VideoPlan, *, add: bool) -> list[str]:
    """A video that is sent twice counts everybody twice, and nobody can undo that."""
    if not (client.config.username or client.config.key) or plan.duration_s <= 0:
        return []
    begin = plan.moment(plan.from_s + IN_VIEW_AT_CUT_S) if plan.from_s else plan.start
    is_short = begin >= plan.end  # only people in view at the cut can be in it
    try:
        [bucket] = client.metrics(["passing_by"], plan.start if is_short else begin, plan.end, time="global")
    except OnlookerError as error:
        return [f"{NO_NUMBERS}{error}"]
    if bucket.passing_by and not add and not is_short:
        people = "1 person" if bucket.passing_by == 1 else f"{bucket.passing_by} people"
        raise BadArgument(
            f"The stream already has {people} between {shown(begin)} and {shown(plan.end)}. "
            "Sent again, everybody would count twice. If they come from something else, continue with --add."
        )
    return []


def month_ends(resets_at: Any) -> str:
    when = f"The next month begins at {resets_at}. " if resets_at else ""
    return f"{when}An enterprise stream has no limit."


def _notes_on_month(month: dict[str, Any], plan: VideoPlan) -> list[str]:
    quota_s, used_s = month.get("quota_s"), month.get("used_s") or 0
    if quota_s is None or plan.duration_s - plan.from_s <= quota_s - used_s:
        return []
    left = clock(max(0.0, quota_s - used_s))
    return [f"The stream's month has {left} of video left, less than this video needs. Sending will stop there."]
