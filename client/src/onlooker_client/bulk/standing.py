"""What the server says before anything is sent: whether the stream takes the video, and what it has already."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from onlooker_client.bulk.plan import Plan, check_times, clock, shown
from onlooker_client.client import Client
from onlooker_client.errors import BadArgument, BadRequest, ConfigError, OnlookerError

NOT_FOUND = 404
IN_VIEW_AT_CUT_S = 5.0
"""Who was in view where an earlier part stopped is there so long at most after it, and may count twice."""
NO_NUMBERS = "The summary will have no numbers: "


def check_stream(client: Client, plan: Plan) -> list[str]:
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


def check_empty(client: Client, plan: Plan, *, add: bool) -> list[str]:
    """A video that is sent twice counts everybody twice, and nobody can undo that."""
    if not client.config.username or plan.duration_s <= 0:
        return []
    begin = plan.moment(plan.from_s + IN_VIEW_AT_CUT_S) if plan.from_s else plan.start
    is_short = begin >= plan.end  # nobody but those of the cut can be in it
    try:
        [bucket] = client.metrics(["passing_by"], plan.start if is_short else begin, plan.end, time="global")
    except OnlookerError as error:
        return [f"{NO_NUMBERS}{error}"]
    if bucket.passing_by and not add and not is_short:
        people = "1 person" if bucket.passing_by == 1 else f"{bucket.passing_by} people"
        raise BadArgument(
            f"The stream already has {people} between {shown(begin)} and {shown(plan.end)}. "
            "Sent again, everybody would count twice. If they are from something else, go on with --add."
        )
    return []


def month_ends(resets_at: Any) -> str:
    when = f"The next month begins at {resets_at}. " if resets_at else ""
    return f"{when}An enterprise stream has no limit."


def _notes_on_month(month: dict[str, Any], plan: Plan) -> list[str]:
    quota_s, used_s = month.get("quota_s"), month.get("used_s") or 0
    if quota_s is None or plan.duration_s - plan.from_s <= quota_s - used_s:
        return []
    left = clock(max(0.0, quota_s - used_s))
    return [f"The stream's month has {left} of video left, less than this video has. It will stop there."]
