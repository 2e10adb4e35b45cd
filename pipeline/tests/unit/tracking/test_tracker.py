"""The tracker, case by case."""

import pytest

from onlooker_pipeline.tracking.boxes import Box, HeadPlace
from onlooker_pipeline.tracking.tracker import FACE_UNSEEN_S, FORGOTTEN_S, HIDDEN_UNSEEN_S, TRACKS_AT_MOST
from onlooker_pipeline.tracking.tracks import BodyFound, doubt
from walkers import HEIGHT, START_MS, UNSURE, WIDTH, Walker, World, body_at, every, face_at

EVERYWHERE = (Box(0, 0, WIDTH, HEIGHT),)
MIDDLE = HeadPlace(320, 150, 50)


def test_face_inside_its_body_is_one_person() -> None:
    world = World()
    for at_ms in every(200, until_ms=2_000):
        world.show(at_ms, [face_at(MIDDLE)], bodies=[body_at(MIDDLE)], moved=EVERYWHERE)
    (track,) = world.tracks
    assert track.confirmed
    assert track.face_ms == track.body_ms == START_MS + 2_000


def test_body_whose_face_turns_up_later_stays_one_person() -> None:
    world = World()
    for at_ms in every(250, until_ms=4_000):
        head = HeadPlace(100 + 0.08 * at_ms, 150, 50)
        faces = [face_at(head)] if at_ms > 2_000 else []
        world.show(at_ms, faces, bodies=[body_at(head)], moved=EVERYWHERE)
    assert len(world.tracks) == len(world.confirmed) == 1
    assert world.tracks[0].had_face


def test_body_that_walks_is_somebody() -> None:
    world = World()
    for at_ms in every(250, until_ms=3_000):
        world.show(at_ms, bodies=[body_at(HeadPlace(100 + 0.08 * at_ms, 150, 50))], moved=EVERYWHERE)
    assert len(world.tracks) == len(world.confirmed) == 1


def test_body_that_never_moves_is_nobody() -> None:
    world = World()
    for at_ms in every(250, until_ms=20_000):
        sway = 2 * (-1) ** (at_ms // 250)
        body = body_at(HeadPlace(320 + sway, 150, 50))
        world.show(at_ms, bodies=[body], moved=EVERYWHERE)
    assert world.confirmed == set()


def test_body_where_nothing_moved_begins_nobody() -> None:
    world = World()
    world.show(0, bodies=[body_at(MIDDLE)])
    assert world.tracks == []


def test_body_of_who_is_followed_begins_nobody_new() -> None:
    world = World()
    for at_ms in every(100, until_ms=1_000):
        world.show(at_ms, [face_at(MIDDLE)])
    torso = BodyFound(Box(250, 120, 390, 330), 0.7)
    world.show(1_100, [face_at(MIDDLE)], bodies=[torso], moved=EVERYWHERE)
    assert len(world.tracks) == 1


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("away_ms", [100, 200, 300])
def test_who_leaves_and_who_enters_there_at_once_are_two(side: int, away_ms: int) -> None:
    edge = WIDTH if side > 0 else 0
    leaves = Walker(edge - side * 200, 200, across=side * 100.0)
    enters = Walker(edge, 200, across=-side * 100.0, begins_s=2.0 + away_ms / 1000)
    world = World()
    world.walk([leaves, enters], every(100, until_ms=4_500))
    assert len(world.confirmed) == 2
    assert world.ids[0][-1] != world.ids[1][-1]


@pytest.mark.parametrize("hidden_s", [0.5, 1.0, 2.0, FACE_UNSEEN_S - 0.3])
def test_still_person_who_was_hidden_comes_back_as_the_same(hidden_s: float) -> None:
    world = World()
    world.walk([Walker(320, 200, hidden=((2.0, 2.0 + hidden_s),))], every(130, until_ms=8_000))
    assert len(world.confirmed) == len(set(world.ids[0])) == 1


def test_who_stands_behind_somebody_is_waited_for() -> None:
    behind = Walker(320, 150, 40, hidden=((2.4, 7.6),))
    comes = Walker(20, 170, 70, across=100.0, ends_s=3.0)
    stands = Walker(320, 170, 70, begins_s=3.0, ends_s=7.0)
    goes = Walker(320, 170, 70, across=100.0, begins_s=7.0)
    assert FACE_UNSEEN_S < 7.6 - 2.4 < HIDDEN_UNSEEN_S
    world = World()
    world.walk([behind, comes, stands, goes], every(130, until_ms=12_000))
    assert len(set(world.ids[0])) == 1
    assert len({*world.ids[1], *world.ids[2], *world.ids[3]}) == 1
    assert len(world.confirmed) == 2


def test_who_walked_on_behind_something_is_found_on_their_way() -> None:
    world = World()
    world.walk([Walker(60, 200, across=80.0, hidden=((2.0, 3.0),))], every(150, until_ms=6_000))
    assert len(world.confirmed) == 1


def test_nobody_appears_in_the_middle_but_who_was_just_lost_there() -> None:
    """The face jumps by more than a head between two frames: it was half hidden, or the other half of a turn."""
    world = World()
    world.walk([Walker(320, 200, ends_s=2.0)], every(100, until_ms=1_900))
    world.walk([Walker(375, 200)], every(100, since_ms=2_000, until_ms=4_000))
    assert len(set(world.ids[0])) == len(world.confirmed) == 1


@pytest.mark.parametrize("sightings", [1, 2])
def test_blip_is_never_confirmed(sightings: int) -> None:
    world = World()
    for at_ms in every(100, until_ms=3_000):
        world.show(at_ms, [face_at(MIDDLE)] if at_ms < 100 * sightings else [])
    assert world.tracks == []
    assert world.confirmed == set()


def test_unsure_faces_begin_nobody() -> None:
    world = World()
    for at_ms in every(100, until_ms=3_000):
        world.show(at_ms, [face_at(MIDDLE, UNSURE)])
    assert world.tracks == []


def test_unsure_faces_go_on_with_who_is_known() -> None:
    world = World()
    for at_ms in every(100, until_ms=10_000):
        world.show(at_ms, [face_at(MIDDLE, UNSURE if at_ms > 1_000 else 0.9)])
    assert len(world.confirmed) == 1
    assert world.tracks[0].face_ms == START_MS + 10_000


def test_long_time_without_frames_ends_everyone() -> None:
    world = World()
    people = [Walker(150, 200), Walker(450, 200)]
    world.walk(people, every(100, until_ms=2_000))
    world.walk(people, every(100, since_ms=10_000, until_ms=12_000))
    assert {track.id for track in world.ended} == set(world.ids[0][:1] + world.ids[1][:1])
    assert len(world.confirmed) == 4


def test_short_time_without_frames_ends_nobody() -> None:
    world = World()
    gap_ms = 1000 * FORGOTTEN_S - 500
    world.walk([Walker(320, 200)], every(100, until_ms=2_000))
    world.walk([Walker(320, 200)], every(100, since_ms=2_000 + gap_ms, until_ms=4_000 + gap_ms))
    assert len(set(world.ids[0])) == 1
    assert world.ended == []


def test_doubt_keeps_a_shelf_from_becoming_a_person() -> None:
    world = World()
    for at_ms in every(100, until_ms=5_000):
        world.show(at_ms, [face_at(MIDDLE)])
        world.tracks = [doubt(track) for track in world.tracks]
    assert world.confirmed == set()


def test_doubt_does_not_touch_who_is_confirmed() -> None:
    world = World()
    world.walk([Walker(320, 200)], every(100, until_ms=1_000))
    (track,) = world.tracks
    assert doubt(track) is track


@pytest.mark.parametrize("frames_a_second", [3, 7, 15])
def test_walk_is_the_same_at_any_rate(frames_a_second: int) -> None:
    """From edge to edge at two heads a second, between seconds 1 and 7.4."""
    gap_ms = 1000 / frames_a_second
    world = World()
    world.walk([Walker(0, 200, across=100.0, begins_s=1.0)], every(gap_ms, until_ms=10_000))
    (track,) = world.ended
    assert world.confirmed == {track.id}
    assert track.began_ms - START_MS == pytest.approx(1_000, abs=gap_ms)
    assert track.seen_ms - START_MS == pytest.approx(7_400, abs=gap_ms)
    assert world.tracks == []


def test_number_of_people_is_bounded() -> None:
    world = World()
    crowd = [face_at(HeadPlace(6.0 * (number % 100), 8.0 * (number // 100) + 10, 4)) for number in range(150)]
    world.show(0, crowd)
    assert len(world.tracks) == TRACKS_AT_MOST


def test_ids_are_random_uuids() -> None:
    worlds = [World(), World()]
    for world in worlds:
        world.show(0, [face_at(MIDDLE)])
    ids = {world.tracks[0].id for world in worlds}
    assert len(ids) == 2
    assert all(len(id) == 16 and id[6] >> 4 == 4 for id in ids)
