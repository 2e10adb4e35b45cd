"""The sound sources of a clip: delays on which many of its windows agree."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.sound.correlation import Correlation, Peak, correlate
from onlooker_pipeline.sound.wav import RATE_HZ, Samples

SOUND_M_PER_S = 343.0
"""In air at 20 degrees Celsius."""
SOURCE_LIMIT = 8
NEAR_SAMPLES, NEAR_SHARE = 1.0, 0.05
"""Peaks of one source lie within a sample or this share of the longest delay: about three degrees."""
FOOT_SAMPLES = 3.0
"""Peaks this near belong to the source: without high frequencies a peak is wide and noise shifts it."""
LEAST_WINDOWS = 2
LONE_HEIGHT, LONE_DISTANCE = 12.0, 2
"""One window is enough for a clear click with no other source around it."""
LEAST_DENSITY = 0.15
"""A source is heard in this share of the windows between its first and its last."""
LEAST_BESIDE = 0.25
"""And in this share of those with a stronger source: anything less is an echo or overtone."""
FULL_HEIGHT = 20.0


@dataclass(frozen=True)
class Source:
    """A direction from which sound came."""

    yaw_radians: float
    """0 is straight ahead, positive is towards the right microphone."""
    confidence: float


def find_sources(samples: Samples, baseline_m: float, *, sensitivity: float) -> list[Source]:
    """At most `SOURCE_LIMIT`, the most certain first."""
    longest_delay = baseline_m / SOUND_M_PER_S * RATE_HZ
    correlation = correlate(samples, longest_delay)
    least = least_confidence(sensitivity)
    near = max(NEAR_SAMPLES, NEAR_SHARE * longest_delay)
    found = []
    for peaks in _clusters(correlation, near):
        source = Source(_yaw(peaks, longest_delay), _confidence(peaks))
        if source.confidence >= least:
            found.append(source)
    return sorted(found, key=lambda source: -source.confidence)[:SOURCE_LIMIT]


def least_confidence(sensitivity: float) -> float:
    """0.9 at sensitivity 0, 0 at 1; at 0.5 a quarter of the maximum."""
    return 0.9 * (1 - sensitivity) ** 2


def _clusters(correlation: Correlation, near: float) -> list[list[Peak]]:
    """Peaks around each common delay, strongest first."""
    left = correlation.peaks
    clusters: list[list[Peak]] = []
    while left and len(clusters) < 2 * SOURCE_LIMIT:
        delays = np.array([peak.delay for peak in left])
        heights = np.array([peak.height for peak in left])
        centre = _mode(delays, heights, near)
        members = [peak for peak in left if abs(peak.delay - centre) <= near]
        if not members:
            break
        left = [peak for peak in left if abs(peak.delay - centre) > max(2 * near, FOOT_SAMPLES)]
        if _is_source(members, clusters, correlation.windows):
            clusters.append(members)
    return clusters


def _mode(delays: NDArray[np.float64], heights: NDArray[np.float64], near: float) -> float:
    """The densest delay: the best bin of a histogram, refined by mean shift."""
    low = float(delays.min()) - near
    bins = ((delays - low) / near).astype(np.int64)
    counts = np.bincount(bins, weights=heights)
    centre = low + (int(counts.argmax()) + 0.5) * near
    for _ in range(10):
        inside = np.abs(delays - centre) <= near
        moved = float(np.average(delays[inside], weights=heights[inside]))
        if abs(moved - centre) < 1e-3:
            break
        centre = moved
    return centre


def _is_source(peaks: list[Peak], stronger: list[list[Peak]], windows: int) -> bool:
    """Whether it is heard often enough, by itself and compared with stronger sources of the same time."""
    heard = {peak.window for peak in peaks}
    first, last = min(heard), max(heard)
    if len(heard) < min(LEAST_WINDOWS, windows):
        others = {peak.window for other in stronger for peak in other}
        lone = others.isdisjoint(range(first - LONE_DISTANCE, first + LONE_DISTANCE + 1))
        return lone and peaks[0].height >= LONE_HEIGHT
    if len(heard) < LEAST_DENSITY * (last - first + 1):
        return False
    meanwhile = [len({peak.window for peak in other if first <= peak.window <= last}) for other in stronger]
    return all(len(heard) >= LEAST_BESIDE * count for count in meanwhile)


def _yaw(peaks: list[Peak], longest_delay: float) -> float:
    weights = [peak.height**2 for peak in peaks]
    delay = float(np.average([peak.delay for peak in peaks], weights=weights))
    return math.asin(min(max(delay / longest_delay, -1.0), 1.0))


def _confidence(peaks: list[Peak]) -> float:
    """How clear its windows are, and how many there are."""
    clear = min(float(np.median([peak.height for peak in peaks])) / FULL_HEIGHT, 1.0)
    return clear * (1 - math.exp(-len({peak.window for peak in peaks}) / 2))
