"""Looking at a moment: one picture alone may be wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from staging import START_MS

from onlooker.compute.scene.attention import NEIGHBOUR_MS, is_looking
from onlooker.compute.scene.samples import AT_CAMERA, AWAY, UNKNOWN, Sample

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
