"""Standing still and looking at a moment: judged by the samples around it."""

import math
from collections.abc import Sequence
from statistics import median

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker_pipeline.scene.behaviour import (
    AT_CAMERA,
    AWAY,
    DWELL_MS,
    GROWTH_A_SECOND,
    NEAR,
    NEIGHBOUR_MS,
    ROOM,
    UNKNOWN,
    Sample,
    find_dwell,
    is_looking,
    is_still,
)
from staging import START_MS

Place = tuple[int, int, int, int]
"""Milliseconds, x, y, size."""


def noted(places: Sequence[Place]) -> list[Sample]:
    """Samples as a scene notes them, one after the other."""
    samples: list[Sample] = []
    for at_ms, x, y, size in places:
        samples.append(Sample(START_MS + at_ms, x, y, size))
        dwell_ms, dwell_x, dwell_y = find_dwell(samples)
        samples[-1] = msgspec.structs.replace(samples[-1], dwell_ms=dwell_ms, dwell_x=dwell_x, dwell_y=dwell_y)
    return samples


def verdicts(places: Sequence[Place]) -> list[bool]:
    samples = noted(places)
    return [is_still(samples, sample.at_ms) for sample in samples]


def stands(window: Sequence[Place]) -> bool:
    """Whether a stretch of time was spent in one place."""
    rows = np.array(window, float)
    room = ROOM * median(rows[:, 3])
    growth = np.polyfit((rows[:, 0] - rows[0, 0]) / 1000, np.log(rows[:, 3]), 1)[0]
    return bool(np.ptp(rows[:, 1]) <= room and np.ptp(rows[:, 2]) <= room and abs(growth) <= GROWTH_A_SECOND)


def verdicts_by_trying(places: Sequence[Place]) -> list[bool]:
    """A moment is still if any shortest stretch of 0.8 seconds around it is one place, and the person is near it."""
    result = [False] * len(places)
    for start, first in enumerate(places):
        for end in range(start + 1, len(places)):
            window = places[start : end + 1]
            too_short = places[end][0] - first[0] < DWELL_MS
            if too_short or places[end][0] - places[start + 1][0] >= DWELL_MS or not stands(window):
                continue
            middle = median(place[1] for place in window), median(place[2] for place in window)
            for number in range(start, end + 1):
                _, x, y, size = places[number]
                result[number] |= math.dist((x, y), middle) <= NEAR * size
    return result


@st.composite
def walks(draw: st.DrawFn) -> list[Place]:
    """Phases of standing, swaying and walking, at 2 to 15 frames a second; even numbers, so that middles are whole."""
    at_ms, x, y, size = 0, 2000, 1000, 480
    places = []
    for _ in range(draw(st.integers(1, 4))):
        speed = draw(st.sampled_from([0, 0, 60, 200, 700]))
        sway = draw(st.sampled_from([0, 20, 60]))
        growth = draw(st.sampled_from([1.0, 1.0, 1.02, 0.95]))
        for _ in range(draw(st.integers(1, 12))):
            gap_ms = draw(st.integers(67, 500))
            at_ms, x, size = at_ms + gap_ms, x + speed * gap_ms // 1000, max(round(size * growth), 40)
            swayed = draw(st.integers(-sway, sway))
            places.append((at_ms, (x + swayed) // 2 * 2, y, size))
    return places


@settings(max_examples=300, deadline=None)
@given(places=walks())
def test_still_is_every_dwell_there_is(places: list[Place]) -> None:
    assert verdicts(places) == verdicts_by_trying(places)


@settings(deadline=None)
@given(places=walks(), times=st.integers(2, 9))
def test_near_and_far_are_judged_alike(places: list[Place], times: int) -> None:
    nearer = [(at_ms, times * x, times * y, times * size) for at_ms, x, y, size in places]
    assert verdicts(nearer) == verdicts(places)


@pytest.mark.parametrize("frames_a_second", [3, 7, 15])
def test_stop_is_as_long_as_it_was_at_any_rate(frames_a_second: int) -> None:
    """Walks two heads a second, stands from second 2 to 6, walks on."""
    gap_ms = 1000 / frames_a_second
    moments = [round(number * gap_ms) for number in range(int(9_000 / gap_ms))]
    places = [(at_ms, round(0.8 * (min(at_ms, 2_000) + max(at_ms - 6_000, 0))), 1000, 400) for at_ms in moments]
    still_ms = [at_ms for at_ms, still in zip(moments, verdicts(places), strict=True) if still]
    assert min(still_ms) == pytest.approx(2_000, abs=gap_ms + 150)
    assert max(still_ms) == pytest.approx(6_000, abs=gap_ms + 150)
    assert len(still_ms) * gap_ms == pytest.approx(4_000, abs=gap_ms + 300)


def test_who_walks_up_to_the_camera_is_not_still() -> None:
    """From four metres to two at one metre a second: the head stays in its place and grows."""
    places = [(at_ms, 2560, 1000, round(1600 / (4 - at_ms / 1000))) for at_ms in range(0, 2_001, 100)]
    assert not any(verdicts(places))


def test_brief_pause_of_who_walks_is_no_stop() -> None:
    moments = range(0, 3_000, 100)
    places = [(at_ms, round(0.8 * (min(at_ms, 1_000) + max(at_ms - 1_300, 0))), 1000, 400) for at_ms in moments]
    assert not any(verdicts(places))


def test_swaying_on_the_spot_is_still() -> None:
    places = [(at_ms, 2000 + round(50 * math.sin(at_ms / 300)), 1000, 400) for at_ms in range(0, 4_000, 100)]
    assert all(verdicts(places))


def test_who_was_seen_once_is_not_still() -> None:
    assert verdicts([(0, 100, 100, 400)]) == [False]


WORDS = {"L": AT_CAMERA, "a": AWAY, "?": UNKNOWN}


def judged(looks: str, *, every_ms: int = 100) -> str:
    """L for looking, a for away, ? for a face that was not seen; L or a for each."""
    samples = [Sample(START_MS + number * every_ms, 0, 0, 400, WORDS[look]) for number, look in enumerate(looks)]
    return "".join("L" if is_looking(samples, sample.at_ms) else "a" for sample in samples)


@pytest.mark.parametrize(
    ("looks", "verdict"),
    [
        ("LLLLL", "LLLLL"),
        ("aaaaa", "aaaaa"),
        ("LLaLL", "LLLLL"),
        ("aaLaa", "aaaaa"),
        ("LL?LL", "LLLLL"),
        ("LL??LL", "LLLLLL"),
        ("aa?aa", "aaaaa"),
        ("LL?aa", "LLaaa"),
        ("LLLaaa", "LLLaaa"),
        ("????", "aaaa"),
        ("L", "L"),
        ("?", "a"),
    ],
)
def test_picture_is_outvoted_by_neighbours_that_agree(looks: str, verdict: str) -> None:
    assert judged(looks) == verdict


@given(looks=st.text("La?", max_size=12), every_ms=st.integers(NEIGHBOUR_MS + 1, 2_000))
def test_neighbours_far_away_have_no_vote(looks: str, every_ms: int) -> None:
    assert judged(looks, every_ms=every_ms) == looks.replace("?", "a")


def test_neighbour_at_the_limit_has_a_vote() -> None:
    assert judged("LaL", every_ms=NEIGHBOUR_MS) == "LLL"


def test_moment_without_a_sample_is_judged_by_its_neighbours() -> None:
    samples = [Sample(START_MS + at_ms, 0, 0, 400, AT_CAMERA) for at_ms in (0, 400)]
    assert is_looking(samples, START_MS + 200)
    assert not is_looking(samples, START_MS + 100)
    assert not is_looking(samples, START_MS + 700)


@given(looks=st.text("La?", max_size=20))
def test_verdict_is_the_same_backwards(looks: str) -> None:
    assert judged(looks[::-1]) == judged(looks)[::-1]
