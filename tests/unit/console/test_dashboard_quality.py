"""What a dashboard says about the quality of its numbers."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from onlooker.console.dashboard.presentation import ADVICES_AT_MOST, advise, describe_quality_change
from onlooker.console.dashboard.report import draw_points
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.coverage import BucketCoverage
from onlooker.metrics.quality import BucketQuality, ChangeSource, QualityChange
from onlooker.streams.models import Stream
from onlooker_pipeline.face_size import FACE_BINS, bin_of

NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def faces(size_px: float, count: int = 100) -> tuple[float, ...]:
    return tuple(count if number == bin_of(size_px) else 0.0 for number in range(FACE_BINS))


GOOD = BucketQuality(frames=9000, video_s=900, face_frames=900, face_video_s=90, faces=faces(90))
DARK = replace(GOOD, dark_frames=3000)
SMALL = replace(GOOD, faces=faces(35))
SLOW = replace(GOOD, face_frames=180)
READ = {"age": {"25-34": 8, "?": 12}, "interested": {"value": 20}}


def values(**given: Any) -> dict[str, Any]:
    return {"age": {"25-34": 20, "?": 0}, "interested": {"value": 20}} | given


@pytest.mark.parametrize(
    ("quality", "found", "beginnings"),
    [
        (BucketQuality(), values(), []),
        (GOOD, values(), []),
        (replace(GOOD, dark_frames=2000), values(), []),
        (DARK, values(), ["It was dark here in 33 % of the frames"]),
        (SMALL, values(), ["Faces are small here: ages are rough."]),
        (replace(GOOD, faces=faces(40)), values(), []),
        (replace(GOOD, faces=faces(35, count=9)), values(), []),
        (SLOW, values(), ["Only 2.0 frames a second"]),
        (replace(SLOW, face_frames=9, face_video_s=4.5), values(), []),
        (replace(GOOD, frames=900), values(), []),  # while nobody is there, a camera sends one a second
        (GOOD, values(**READ), ["The age of only 40 % of the interested people"]),
        (SMALL, values(**READ), ["Faces are small here"]),  # which is why
        (GOOD, values(age={"25-34": 1, "?": 8}, interested={"value": 9}), []),
        (replace(DARK, faces=faces(35), face_frames=180), values(), ["It was dark", "Faces are small", "Only 2.0"]),
    ],
)
def test_what_makes_numbers_rough_is_said_the_worst_first(
    quality: BucketQuality, found: dict[str, Any], beginnings: list[str]
) -> None:
    said = list(advise(quality, found, Stream()))
    assert len(said) == len(beginnings)
    assert all(sentence.startswith(beginning) for sentence, beginning in zip(said, beginnings, strict=True))


def test_two_sentences_are_enough() -> None:
    assert ADVICES_AT_MOST == 2


def test_nobody_misses_ages_that_are_switched_off() -> None:
    stream = Stream(reads_age=False)
    assert list(advise(GOOD, values(**READ), stream)) == []
    [small] = advise(SMALL, values(), stream)
    assert small.startswith("Faces are small here: people may be missed.")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (QualityChange(NOON, ChangeSource.VIEW), "Camera turned"),
        (QualityChange(NOON, ChangeSource.MODELS, "0.2.0"), "Models 0.2.0"),
        (QualityChange(NOON, ChangeSource.PIPELINE, "0.3.0"), "Pipeline 0.3.0"),
        (QualityChange(NOON, ChangeSource.MODELS), "Models unknown"),
    ],
)
def test_a_mark_says_what_changed(change: QualityChange, words: str) -> None:
    assert describe_quality_change(change) == words


def test_a_change_is_marked_in_its_hour_even_if_its_slot_began_before_the_chart() -> None:
    edges_s = tuple((NOON + hours * HOUR).timestamp() for hours in range(3))
    buckets = Buckets(("first", "second"), edges_s)
    covered = (BucketCoverage(3600, 3600, {}, None),) * 2
    early, late = (QualityChange(NOON + ago, ChangeSource.VIEW) for ago in (timedelta(minutes=-10), HOUR))
    points = draw_points(buckets, covered, {"passing_by": [1, 1], "interested": [0, 0]}, [early, late])
    assert [point.changes for point in points] == [(early,), (late,)]
