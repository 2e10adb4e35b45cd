"""How a dashboard says times, and why something was not watched, in plain words. Pure."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from onlooker.console.dashboard.period import Period
from onlooker.console.streams.refusals import WORDS
from onlooker.metrics.absences import Absence, BucketCoverage
from onlooker.metrics.query import Time
from onlooker.streams.coverage import Reason

LEAST_SHARE, LEAST_S, MOST_S = 0.005, 10.0, 300.0
"""What is missing is not worth a word below this share of the time, within these limits."""
LONG_MINUTES = 48 * 60
"""From here on a duration is said in days."""
_ABSENCES = {
    Absence.OFFLINE: "offline",
    Absence.NOT_CREATED: "",
    Absence.DISABLED: "disabled",
    Absence.QUOTA: "month used up",
    Absence.REFUSED: "frames refused",
    Absence.UNKNOWN: "not known any more",
}


def say_duration(seconds: float) -> str:
    """The two largest units: 3 days 4 h, 22 h 19 min, 5 min, 40 s."""
    if seconds < 59.5:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < LONG_MINUTES:
        parts = zip(divmod(minutes, 60), ("h", "min"), strict=True)
    else:
        parts = zip(divmod(round(minutes / 60), 24), ("days", "h"), strict=True)
    return " ".join(f"{amount:,} {unit}" for amount, unit in parts if amount)


def say_share(share: float) -> str:
    """A percentage that is 0 or 100 only where it is exactly that."""
    percent = round(100 * share)
    if share > 0 and percent == 0:
        return "less than 1 %"
    if share < 1 and percent == 100:
        return "more than 99 %"
    return f"{percent} %"


def watched_share(watched: BucketCoverage) -> float | None:
    """None where it is not known any more, or nothing of the time is over yet."""
    if not watched.length_s or Absence.UNKNOWN in watched.missing:
        return None
    return min(1.0, watched.covered_s / watched.length_s)


def say_watched(watched: BucketCoverage) -> str:
    """Of an hour or a day: `watched 22 h 19 min; offline 1 h 41 min`."""
    parts = [f"watched {say_duration(watched.covered_s)}"] if watched.covered_s >= 1 else []
    missing = say_missing(watched)
    if not missing:
        return "watched all the time" if parts else "only just begun"
    return "; ".join(parts + missing)


def say_missing(watched: BucketCoverage) -> list[str]:
    """What was not watched, the longest first; what is too short to matter is left out."""
    least_s = max(LEAST_S, min(LEAST_SHARE * watched.length_s, MOST_S))
    missing = _missing_of(watched)
    said = {f"{why} {say_duration(lost_s)}{more}".strip(): lost_s for (why, more), lost_s in missing.items()}
    return [words for words, lost_s in said.items() if lost_s >= least_s]


def say_gap(watched: BucketCoverage) -> str:
    """Why a time is a gap in the chart; how long is said only where there are several causes."""
    said = say_missing(watched)
    if len(said) > 1:
        return "; ".join(said)
    [(why, more), *_] = _missing_of(watched)
    return (why + more).strip()


def _missing_of(watched: BucketCoverage) -> dict[tuple[str, str], float]:
    """Seconds by why, in words, and what more there is to say of it; the longest first."""
    missing = {(_ABSENCES[why], _more_of(why, watched.refused_for)): lost_s for why, lost_s in watched.missing.items()}
    return dict(sorted(missing.items(), key=lambda item: -item[1]))


def _more_of(absence: Absence, reason: Reason | None) -> str:
    """Of words on a refusal the first sentence says why, the others what to do."""
    if absence is Absence.NOT_CREATED:
        return " before the stream was created"
    if absence is not Absence.REFUSED or not reason:
        return ""
    why = WORDS[reason].split(". ")[0].rstrip(".")
    return f" ({why[0].lower()}{why[1:]})"


def say_range(from_at: datetime, to_at: datetime, zone: ZoneInfo, *, now: datetime | None = None) -> str:
    """`Mon 9 Nov 00:00 to now`; whole days as dates alone. Years are named where they are not this one."""
    begins, ends = from_at.astimezone(zone), to_at.astimezone(zone)
    year = now.astimezone(zone).year if now else None
    if _is_midnight(from_at, zone) and _is_midnight(to_at, zone):
        last = (ends - timedelta(hours=12)).date()
        days = [_day(begins, year), _day(datetime(last.year, last.month, last.day, tzinfo=UTC), year)]
        return " to ".join(dict.fromkeys(days))
    until = f"{ends:%H:%M}" if begins.date() == ends.date() else f"{_day(ends, year)} {ends:%H:%M}"
    return f"{_day(begins, year)} {begins:%H:%M} to {until}"


def say_period(period: Period, *, now: datetime) -> str:
    """Its range, which ends now as long as it is not over."""
    said = say_range(period.from_at, period.to_at, period.zone, now=now)
    if period.to_at < now.replace(microsecond=0):
        return said
    begins = period.from_at.astimezone(period.zone)
    return f"{_day(begins, now.astimezone(period.zone).year)} {begins:%H:%M} to now"


def _is_midnight(at: datetime, zone: ZoneInfo) -> bool:
    """Whether a date begins then; a clock may skip its midnight."""
    return at.astimezone(zone).date() != (at - timedelta(seconds=1)).astimezone(zone).date()


def _day(at: datetime, year: int | None) -> str:
    return f"{at:%a} {at.day} {at:%b}" + ("" if at.year == year else f" {at.year}")


def label_buckets(keys: list[str], time: Time) -> list[str]:
    """How hours or days are called on the axis; where a clock shows an hour twice, its offset tells which."""
    starts = [datetime.fromisoformat(key) for key in keys]
    years = {start.year for start in starts}
    if time is Time.BY_DAY:
        return [_day(start, start.year if len(years) == 1 else None) for start in starts]
    one_day = len({start.date() for start in starts}) == 1
    labels = [f"{start:%H:%M}" if one_day else f"{start:%a} {start.day} {start:%b} {start:%H:%M}" for start in starts]
    offsets = {start.utcoffset() for start in starts}
    if len(offsets) == 1:
        return labels
    twice = {label for label in labels if labels.count(label) > 1}
    return [f"{label} ({key[19:]})" if label in twice else label for label, key in zip(labels, keys, strict=True)]
