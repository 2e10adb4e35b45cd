"""Extension metrics: not figures of visits, but what was watched and how well, why not the rest, who is in view."""

from dataclasses import dataclass

from onlooker.metrics.definitions import Unit


@dataclass(frozen=True)
class ExtensionMetric:
    """A metric that no visits make up. Nothing answers it unless it is asked for by name."""

    name: str
    title: str
    unit: Unit
    meaning: str


WATCHED = ExtensionMetric(
    "watched",
    "Watched",
    Unit.SECONDS,
    "Seconds of the bucket that were watched, and their share of the time that has passed.",
)
GAPS = ExtensionMetric(
    "gaps",
    "Gaps",
    Unit.SECONDS,
    "Seconds of the bucket that nobody watched, by reason.",
)
IN_VIEW = ExtensionMetric(
    "in_view",
    "In view",
    Unit.PEOPLE,
    "People in view now, and how many of them look; null in buckets that do not reach to now, and on the grid.",
)
QUALITY = ExtensionMetric(
    "quality",
    "Quality",
    Unit.VARIOUS,
    "How well people could be seen, and which versions computed it; null where nothing was looked at.",
)
EXTENSIONS = {metric.name: metric for metric in (WATCHED, GAPS, IN_VIEW, QUALITY)}
CARRIED = (WATCHED.name, GAPS.name)
"""Tables have these whether or not they are asked for: without them a zero can mean anything."""
