"""The hours of the week, reckoned anew from the data endpoint's hours and from what the cameras' coverage says."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

from bench.dashboard.asked import Source
from bench.dashboard.shown import Shown
from bench.dashboard.stage import Stage
from bench.dashboard.world import Screen

WATCHED_FROM_S = 1800
"""Hours that were watched for less do not count."""
SLOT_S = 900
ROUNDED = 0.006
_COVERED = "SELECT slot_at, video_s FROM streams_coverage WHERE stream_id = %s AND slot_at >= %s AND slot_at < %s"


def check_week(stage: Stage, shown: Shown, source: Source, screen: Screen, where: str) -> None:
    """Of a range of whole days that are over."""
    watched_s: defaultdict[datetime, float] = defaultdict(float)
    for slot_at, video_s in stage.stack.execute(_COVERED, screen.id, shown.from_date, shown.to_date):
        watched_s[_hour_of(slot_at)] += min(video_s, SLOT_S)
    people, seconds = defaultdict[tuple[int, int], int](int), defaultdict[tuple[int, int], float](float)
    hours = source.ask(shown.from_date, shown.to_date, time="by_hour", metrics=("passing_by",))
    for key, values in hours.items():
        begins = datetime.fromisoformat(key)
        if watched_s[_hour_of(begins)] >= WATCHED_FROM_S:
            people[begins.weekday(), begins.hour] += values["passing_by"]["value"]
            seconds[begins.weekday(), begins.hour] += watched_s[_hour_of(begins)]
    for day, cells in enumerate(shown.data["week"]):
        for hour, value in enumerate(cells):
            asked = 3600 * people[day, hour] / seconds[day, hour] if seconds[day, hour] else None
            right = value is asked is None or (
                value is not None and asked is not None and abs(value - asked) <= ROUNDED
            )
            stage.compared += 1
            stage.check(right, f"{where} week, day {day} at {hour}: the page has {value}, {asked} is right")


def _hour_of(at: datetime) -> datetime:
    """Zones of the demo are whole hours apart from UTC."""
    at = at.astimezone(UTC)
    return at - timedelta(minutes=at.minute, seconds=at.second)
