"""Which face or body may be whose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.tracking.association import (
    FrameSize,
    belongs,
    is_leaving,
    match_bodies,
    match_faces,
    match_faces_to_bodies,
    match_lost,
)
from onlooker_pipeline.tracking.boxes import Box, HeadPlace, body_around, contained, offsets_of, overlap
from onlooker_pipeline.tracking.tracks import Track, advance
from walkers import HEIGHT, START_MS, WIDTH, Walker, World, body_at, every, face_at

FRAME = FrameSize(WIDTH, HEIGHT)
HEADS = st.builds(HeadPlace, st.floats(0, WIDTH), st.floats(0, HEIGHT), st.floats(8, 200))
BOXES = st.builds(
    lambda left, top, width, height: Box(left, top, left + width, top + height),
    *[st.floats(-100, 700)] * 2,
    *[st.floats(1, 400)] * 2,
)


def known(walker: Walker, *, until_ms: int = 1_000) -> Track:
    """Followed up to that moment."""
    world = World()
    world.walk([walker], every(100, until_ms=until_ms))
    (track,) = world.tracks
    return track


def later(track: Track, ms: int) -> Track:
    return advance(track, track.at_ms + ms)


def test_each_face_goes_to_who_is_nearest_to_it() -> None:
    tracks = [later(known(Walker(x, 200)), 100) for x in (200, 270, 340)]
    faces = [face_at(HeadPlace(x, 200, 50)) for x in (345, 205, 275)]
    assert match_faces(tracks, faces, FRAME) == {0: 1, 1: 2, 2: 0}


def test_face_is_expected_where_the_walk_leads() -> None:
    right, left = known(Walker(200, 200, across=100.0)), known(Walker(420, 200, across=-100.0))
    tracks = [later(right, 200), later(left, 200)]
    faces = [face_at(HeadPlace(300, 200, 50)), face_at(HeadPlace(320, 200, 50))]
    assert match_faces(tracks, faces, FRAME) == {0: 1, 1: 0}


@pytest.mark.parametrize("size", [50 / 1.8, 50 * 1.8])
def test_face_of_another_size_is_somebody_else(size: float) -> None:
    track = later(known(Walker(320, 200)), 100)
    assert match_faces([track], [face_at(HeadPlace(320, 200, size))], FRAME) == {}


def test_face_far_away_is_somebody_else() -> None:
    track = later(known(Walker(320, 200)), 100)
    assert match_faces([track], [face_at(HeadPlace(320 + 60, 200, 50))], FRAME) == {}


@pytest.mark.parametrize(
    ("walker", "leaving"),
    [
        (Walker(560, 200, across=60.0), True),
        (Walker(80, 200, across=-60.0), True),
        (Walker(80, 200, across=60.0), False),
        (Walker(620, 200), False),
        (Walker(200, 200, across=100.0), False),
    ],
)
def test_who_walks_out_near_the_edge_is_leaving(walker: Walker, leaving: bool) -> None:
    assert is_leaving(known(walker, until_ms=700), FRAME) is leaving


def test_who_was_hidden_in_the_middle_is_found_there_and_at_the_edge_is_not() -> None:
    lost = later(known(Walker(320, 200)), 800)
    assert match_lost([lost], [face_at(HeadPlace(400, 200, 50))], FRAME) == {0: 0}
    assert match_lost([lost], [face_at(HeadPlace(320, 200, 90))], FRAME) == {}
    at_edge = later(known(Walker(80, 200)), 800)
    assert match_lost([at_edge], [face_at(HeadPlace(30, 200, 50))], FRAME) == {}


def test_who_was_hidden_may_have_stopped_on_the_way() -> None:
    lost = later(known(Walker(100, 200, across=100.0)), 1_000)
    assert lost.head.x == pytest.approx(300, abs=10)
    for x in (200, 250, 300):
        assert match_lost([lost], [face_at(HeadPlace(x, 200, 50))], FRAME) == {0: 0}


def test_body_goes_to_who_is_in_it() -> None:
    tracks = [known(Walker(150, 100)), known(Walker(450, 100))]
    bodies = [body_at(track.head).box for track in tracks]
    assert match_bodies(tracks, bodies[::-1], margin=0.0) == {0: 1, 1: 0}


def test_faces_side_by_side_get_their_own_bodies() -> None:
    heads = [HeadPlace(x, 120, 40) for x in (200, 290, 380)]
    faces, bodies = [face_at(head).box for head in heads], [body_at(head).box for head in heads]
    assert match_faces_to_bodies(faces, bodies) == {0: 0, 1: 1, 2: 2}


@given(head=HEADS)
def test_head_belongs_to_the_body_around_it(head: HeadPlace) -> None:
    assert belongs(head, body_around(head))


@given(head=HEADS)
def test_head_at_the_feet_belongs_to_somebody_else(head: HeadPlace) -> None:
    assert not belongs(HeadPlace(head.x, head.y + 5 * head.size, head.size), body_around(head))


@given(head=HEADS, body=BOXES)
def test_body_is_kept_as_its_head_sees_it(head: HeadPlace, body: Box) -> None:
    assert tuple(body_around(head, offsets_of(body, head))) == pytest.approx(tuple(body), abs=1e-6)


@given(one=BOXES, other=BOXES)
def test_overlap_is_a_share_and_the_same_from_both_sides(one: Box, other: Box) -> None:
    assert 0 <= overlap(one, other) <= contained(one, other) + 1e-9 <= 1 + 2e-9
    assert overlap(one, other) == pytest.approx(overlap(other, one))
    assert overlap(one, one) == pytest.approx(1)


def test_nobody_is_thought_to_walk_on_for_ever() -> None:
    track = known(Walker(100, 200, across=100.0))
    soon, late = later(track, 1_000), later(later(track, 1_000), 5_000)
    assert soon.head.x == pytest.approx(300, abs=10)
    assert late.x == soon.x
    assert late.at_ms == START_MS + 7_000
