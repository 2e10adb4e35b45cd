"""Scoring of visits against a ground truth: what the accuracy recipe says must be true of cases worked out by hand."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.accuracy.scene_report import compare_counts, summarise
from bench.accuracy.visit_scores import score_clip
from bench.chaos.visit_differences import Run, compare_runs
from bench.lib.frames import as_filmed, slowly, with_jitter, with_losses
from bench.lib.scenes import Truth, as_intervals, as_truth, covers, shared, total, without
from bench.lib.visits import Followed, SeenPlace, Visit, read_answer

pairs = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)).map(lambda p: (p[0], p[0] + p[1])), max_size=6)


def person(number: int, enter: float, leave: float, **more: Any) -> dict[str, Any]:
    known = {"id": number, "enter": enter, "leave": leave, "still": [], "looking": []}
    return known | {"passing": leave - enter >= 1, "interested": False} | more


def scene(*persons: dict[str, Any], frames: list[Any] | None = None) -> Truth:
    interested = sum(p["interested"] is True for p in persons)
    totals = {"passing": sum(p["passing"] for p in persons), "interested": interested}
    known = {"fps": 10, "duration": 10.0, "persons": list(persons), "totals": totals}
    return as_truth("scene", known if frames is None else known | {"frames": frames})


def drawn(*lefts: float, frames: int = 100) -> list[Any]:
    """Faces of 50 pixels that stand where they are."""
    return [[[number, left, 100, 50, 50, "front", 1] for number, left in enumerate(lefts)] for _ in range(frames)]


def visit(name: str, start: float, end: float, **more: Any) -> Visit:
    return Visit(name, [(start, end)], more.get("still", []), more.get("looking", []))


def followed(*places: tuple[int, int, str, float]) -> list[Followed]:
    """Faces at `left` under an id, in the frames from one number to another."""
    frames: dict[int, dict[str, SeenPlace]] = {number: {} for number in range(100)}
    for first, last, name, left in places:
        for number in range(first, last):
            frames[number][name] = SeenPlace(face=(left, 100, 50, 50))
    return [Followed(number, here) for number, here in frames.items()]


@given(pairs, pairs)
def test_intervals_agree_with_counting_tenths(one: list[Any], other: list[Any]) -> None:
    a, b = as_intervals(one), as_intervals(other)
    for seconds in (tenth / 2 + 0.25 for tenth in range(110)):
        assert covers(a, seconds) == any(start <= seconds < end for start, end in one)
        assert covers(shared(a, b), seconds) == (covers(a, seconds) and covers(b, seconds))
        assert covers(without(a, b), seconds) == (covers(a, seconds) and not covers(b, seconds))
    assert total(shared(a, b)) + total(without(a, b)) == pytest.approx(total(a))


def test_the_truth_itself_has_no_errors() -> None:
    truth = scene(person(0, 1, 8, still=[[2, 7]], looking=[[3, 5]], interested=True), frames=drawn(100))
    score = score_clip(truth, [visit("a", 1, 8, still=[(2, 7)], looking=[(3, 5)])], followed((10, 80, "a", 100)))
    assert (score.passing, score.interested, score.missed, score.false) == (1, 1, [], [])
    assert (score.looking.right, score.looking.wrong, score.looking.missed) == (20, 0, 0)
    assert (score.switches, score.splits) == (0, 0)


def test_a_track_that_breaks_is_a_switch_and_a_split() -> None:
    truth = scene(person(0, 0, 10), frames=drawn(100))
    score = score_clip(truth, [visit("a", 0, 6), visit("b", 6, 10)], followed((0, 60, "a", 100), (60, 100, "b", 100)))
    assert (score.switches, score.splits, score.passing) == (1, 1, 2)
    assert score.persons[0].visit == "a"


def test_two_who_swap_ids_are_two_switches_and_no_split() -> None:
    truth = scene(person(0, 0, 10), person(1, 0, 10), frames=drawn(100, 400))
    places = followed((0, 60, "a", 100), (0, 60, "b", 400), (60, 100, "b", 100), (60, 100, "a", 400))
    score = score_clip(truth, [visit("a", 0, 10), visit("b", 0, 10)], places)
    assert (score.switches, score.splits, score.missed) == (2, 0, [])


def test_somebody_seen_from_behind_is_matched_by_the_body() -> None:
    truth = scene(person(0, 0, 10), frames=drawn(100))
    result = {"entities": {}, "bodies": {"a": {"full_body_roi": [50, 90, 150, 380], "full_body_roi_confidence": 0.6}}}
    score = score_clip(truth, [visit("a", 0, 10)], [read_answer(number, result) for number in range(100)])
    assert (score.missed, score.false) == ([], [])


def test_answers_to_smaller_pictures_are_measured_in_pixels_of_the_video() -> None:
    place = read_answer(3, {"entities": {"a": {"face_roi": [10, 20, 5, 5], "face_roi_confidence": 1}}}, scale=0.5)
    assert place.places["a"].face == (20, 40, 10, 10)


def test_a_visit_in_nobodys_place_is_false_and_the_person_is_missed() -> None:
    truth = scene(person(0, 0, 10), frames=drawn(100))
    score = score_clip(truth, [visit("a", 0, 10)], followed((0, 100, "a", 400)))
    assert (score.missed, score.false) == ([0], ["a"])


def test_what_the_reviewer_was_not_sure_of_is_left_out() -> None:
    truth = scene(person(0, 0, 10, looking=[[1, 9]], looking_uncertain=[[0, 5]], interested=None))
    score = score_clip(truth, [visit("a", 0, 10, still=[(0, 10)], looking=[(0, 3), (5, 9)])])
    assert (score.looking.right, score.looking.wrong, score.looking.missed) == (40, 0, 0)
    assert score.persons[0].attention_error_s == pytest.approx(0)
    assert (score.interested, score.interested_true) == (0, 0)


def test_interest_needs_three_seconds_in_one_piece_and_more_than_one_second_of_looks() -> None:
    assert visit("a", 0, 9, still=[(0, 3)], looking=[(0, 1.1)]).is_interested
    assert not visit("a", 0, 9, still=[(0, 3)], looking=[(0, 1)]).is_interested
    assert not visit("a", 0, 9, still=[(0, 2), (4, 6)], looking=[(0, 5)]).is_interested


def test_one_too_many_does_not_make_up_for_one_too_few() -> None:
    right = score_clip(scene(person(0, 0, 10)), [visit("a", 0, 10)])
    scores = [replace(right, passing=0), replace(right, passing=2)]
    figures = {figure.name: figure for figure in summarise(scores)}
    assert figures["passing_error"].value == 1.0
    assert not figures["passing_error"].met


def test_counts_that_move_by_more_than_a_twentieth_are_told() -> None:
    right = replace(score_clip(scene(person(0, 0, 10)), [visit("a", 0, 10)]), passing=40, interested=20)
    passing, interested = compare_counts("x", [replace(right, passing=38, interested=22)], [right])
    assert (passing.met, interested.met) == (True, False)


@given(st.integers(0, 300))
def test_variants_keep_the_order_of_the_frames(frames: int) -> None:
    assert [shot.frame for shot in slowly(frames, 10.0)] == list(range(0, frames, 2))
    for variant in (as_filmed, slowly, with_losses, with_jitter):
        shots = variant(frames, 10.0)
        assert all(a.seconds < b.seconds and a.frame < b.frame for a, b in itertools.pairwise(shots))
        assert all(abs(shot.seconds - shot.frame / 10) <= 0.0511 for shot in shots)


def test_runs_are_compared_by_place_where_times_are_the_same() -> None:
    places = followed((0, 100, "a", 100), (0, 100, "b", 400))
    mirrored = followed((0, 100, "c", 400), (0, 100, "d", 100))
    first = Run([visit("a", 0, 10, still=[(0, 4)]), visit("b", 0, 10, still=[(0, 8)])], places)
    second = Run([visit("c", 0, 10, still=[(0, 8)]), visit("d", 0, 10, still=[(0, 3.5)])], mirrored)
    difference = compare_runs(first, second)
    assert (difference.missing, difference.extra) == ([], [])
    assert sorted(difference.stop_changes_s) == [-0.5, 0]


def test_a_visit_that_came_twice_is_extra() -> None:
    first = Run([visit("a", 0, 10)], [])
    difference = compare_runs(first, Run([visit("c", 0, 6), visit("d", 6, 10)], []))
    assert (difference.missing, difference.extra) == ([], ["d"])
