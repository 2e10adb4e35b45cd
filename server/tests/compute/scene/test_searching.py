"""When the person net is asked: for what moved unexplained, and for who went unseen."""

import itertools

from staging import HEIGHT, START_MS, WIDTH, Actor, Stage

from onlooker.compute.scene.searching import (
    BODY_EVERY_MS,
    MOVED_EVERY_MS,
    UNSEEN_AFTER_MS,
    UNSEEN_EVERY_MS,
    WALKING_BODY_EVERY_MS,
    should_search,
)
from onlooker.compute.tracking.boxes import Box

SOMEWHERE = [Box(100, 100, 300, 400)]
EVERYWHERE = [Box(0, 0, WIDTH, HEIGHT)]
MINUTE_MS = 60_000


def searched(stage: Stage) -> list[int]:
    return [at_ms for at_ms, _ in stage.asked.faces.get("bodies", [])]


def test_still_scene_is_not_searched() -> None:
    assert not should_search([], [], searched_ms=0, at_ms=START_MS)


def test_movement_is_searched_now_and_then() -> None:
    assert should_search([], SOMEWHERE, searched_ms=0, at_ms=START_MS)
    assert not should_search([], SOMEWHERE, searched_ms=START_MS, at_ms=START_MS + MOVED_EVERY_MS - 1)
    assert should_search([], SOMEWHERE, searched_ms=START_MS, at_ms=START_MS + MOVED_EVERY_MS)


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
