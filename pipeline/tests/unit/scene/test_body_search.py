"""Movement that nobody explains, and when the person net is run."""

import itertools

import cv2
import numpy as np
import pytest

from onlooker_pipeline.motion.change import Grey
from onlooker_pipeline.scene import body_search
from onlooker_pipeline.scene.body_search import (
    BODY_EVERY_MS,
    MOVED_EVERY_MS,
    UNSEEN_AFTER_MS,
    UNSEEN_EVERY_MS,
    WALKING_BODY_EVERY_MS,
    find_movement,
    find_unexplained,
    should_search_bodies,
    shrink_picture,
)
from onlooker_pipeline.tracking.boxes import Box, contained
from staging import HEIGHT, START_MS, WIDTH, Actor, Stage

SIDES = {"width": 640, "height": 480}


def wall(*, seed: int = 0, noise: float = 2.0, light: int = 120) -> np.ndarray:
    """A grey wall as a camera sees it."""
    grain = np.random.default_rng(seed).normal(light, noise, (480, 640))
    return np.clip(grain, 0, 255).astype(np.uint8)


def with_block(picture: np.ndarray, box: Box, light: int = 200) -> Grey:
    shown = picture.copy()
    cv2.rectangle(shown, (int(box.left), int(box.top)), (int(box.right), int(box.bottom)), light, -1)
    return shrink_picture(shown)


def test_nothing_moves_in_noise() -> None:
    for noise in (0.0, 2.0, 10.0, 30.0):
        before, now = (shrink_picture(wall(seed=seed, noise=noise)) for seed in (1, 2))
        assert find_movement(before, now, **SIDES) == []


@pytest.mark.parametrize("noise", [0.0, 5.0])
def test_what_appears_is_found_where_it_is(noise: float) -> None:
    block = Box(300, 120, 380, 360)
    before, now = shrink_picture(wall(seed=1, noise=noise)), with_block(wall(seed=2, noise=noise), block)
    (found,) = find_movement(before, now, **SIDES)
    assert contained(block, found) > 0.95
    assert tuple(found) == pytest.approx(tuple(block), abs=16)


def test_two_who_move_apart_are_two() -> None:
    shown = wall()
    cv2.rectangle(shown, (50, 100), (120, 300), 200, -1)
    cv2.rectangle(shown, (450, 100), (520, 300), 200, -1)
    assert len(find_movement(shrink_picture(wall()), shrink_picture(shown), **SIDES)) == 2


def test_small_change_is_a_leaf() -> None:
    now = with_block(wall(), Box(300, 120, 308, 128))
    assert find_movement(shrink_picture(wall()), now, **SIDES) == []


def test_lamp_that_is_switched_is_no_movement() -> None:
    assert find_movement(shrink_picture(wall(light=80)), shrink_picture(wall(light=180)), **SIDES) == []
    now = with_block(wall(), Box(0, 0, 640, 400))
    assert find_movement(shrink_picture(wall()), now, **SIDES) == []


def test_picture_kept_until_the_next_is_tiny_and_grey() -> None:
    colour = np.zeros((1080, 1920, 3), np.uint8)
    assert shrink_picture(colour).shape == shrink_picture(wall()).shape == (body_search.HEIGHT, body_search.WIDTH)
    assert shrink_picture(colour).nbytes < 20_000


def test_movement_of_who_is_followed_is_explained() -> None:
    moved = [Box(100, 100, 200, 300), Box(400, 100, 500, 300)]
    assert find_unexplained(moved, [Box(90, 80, 210, 400)]) == moved[1:]
    assert find_unexplained(moved, []) == moved
    assert find_unexplained(moved, [Box(90, 80, 130, 400)]) == moved
    assert find_unexplained(moved, [Box(90, 80, 140, 400), Box(140, 80, 210, 400)]) == moved[1:]


SOMEWHERE = [Box(100, 100, 300, 400)]
EVERYWHERE = [Box(0, 0, WIDTH, HEIGHT)]
MINUTE_MS = 60_000


def searched(stage: Stage) -> list[int]:
    return [at_ms for at_ms, _ in stage.asked.faces.get("bodies", [])]


def test_still_scene_is_not_searched() -> None:
    assert not should_search_bodies([], [], searched_ms=0, at_ms=START_MS)


def test_movement_is_searched_now_and_then() -> None:
    assert should_search_bodies([], SOMEWHERE, searched_ms=0, at_ms=START_MS)
    assert not should_search_bodies([], SOMEWHERE, searched_ms=START_MS, at_ms=START_MS + MOVED_EVERY_MS - 1)
    assert should_search_bodies([], SOMEWHERE, searched_ms=START_MS, at_ms=START_MS + MOVED_EVERY_MS)


def test_minute_of_faces_in_view_asks_the_person_net_nothing() -> None:
    stage = Stage()
    stage.play(Actor(x=200), Actor(x=450), until_ms=MINUTE_MS)
    assert searched(stage) == []


def test_minute_of_leaves_asks_it_at_its_pace_and_finds_nobody() -> None:
    stage = Stage()
    for at_ms in range(0, MINUTE_MS, 100):
        stage.show(at_ms, moved=SOMEWHERE)
    assert len(searched(stage)) == MINUTE_MS / MOVED_EVERY_MS
    assert stage.state is not None
    assert stage.state.tracks == []


def test_who_went_unseen_is_looked_for_until_given_up() -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=2_000)
    for at_ms in range(2_000, 20_000, 100):
        stage.show(at_ms)
    times = searched(stage)
    assert times[0] == 1_900 + UNSEEN_AFTER_MS
    assert all(later - earlier == UNSEEN_EVERY_MS for earlier, later in itertools.pairwise(times))
    assert times[-1] < 10_000


def test_who_turned_their_face_away_is_kept_by_their_body() -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=2_000)
    entities = stage.play(Actor(has_face=False), since_ms=2_000, until_ms=20_000)
    assert len(entities) == 1
    assert stage.raised("disappearance") == []
    assert len(searched(stage)) <= 18_000 / UNSEEN_EVERY_MS + 1


def test_body_without_a_face_is_followed_by_searching() -> None:
    stage = Stage()
    for at_ms in range(0, 4_000, 50):
        stage.show(at_ms, Actor(x=100 + 0.1 * at_ms, has_face=False), moved=EVERYWHERE if at_ms < 500 else ())
    times = [at_ms for at_ms in searched(stage) if at_ms >= 500]
    assert all(later - earlier == WALKING_BODY_EVERY_MS for earlier, later in itertools.pairwise(times))
    stops = Actor(x=100 + 0.1 * 3_950, has_face=False)
    stage.play(stops, since_ms=4_000, until_ms=12_000, gap_ms=50)
    times = [at_ms for at_ms in searched(stage) if at_ms >= 8_000]
    assert all(later - earlier == BODY_EVERY_MS for earlier, later in itertools.pairwise(times))
    assert stage.state is not None
    assert len(stage.state.tracks) == 1
