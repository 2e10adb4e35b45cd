"""How often the nets are asked: counted over scenes, and the rules themselves."""

import itertools
import math
import uuid

import pytest

from onlooker_pipeline.scene.attribute_schedule import (
    ASKED_AT_ONCE,
    BETTER_AFTER_MS,
    MOOD_EVERY_MS,
    MOOD_UNSEEN_EVERY_MS,
    PROFILE_EVERY_MS,
    mood_overdue_ms,
    profile_overdue_ms,
)
from onlooker_pipeline.scene.face_attributes import Mood, Profile
from onlooker_pipeline.scene.face_views import EYES_EVERY_MS, angle_off_camera, rate_view
from onlooker_pipeline.tracking import tracks
from onlooker_pipeline.vision.head_pose import Direction
from staging import Actor, Stage

MINUTE_MS = 60_000
FIVE = [Actor(x=x, size=50) for x in (80, 200, 320, 440, 560)]


def asked_times(stage: Stage, net: str, x: float) -> list[int]:
    """When a net was asked about the face at a place."""
    return [at_ms for at_ms, places in stage.asked.faces.get(net, []) if pytest.approx(x, abs=0.01) in places]


def test_nobody_asks_the_expensive_nets_nothing() -> None:
    stage = Stage()
    stage.play(until_ms=MINUTE_MS)
    assert stage.asked.times == {}


def test_one_person_is_read_less_and_less() -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=MINUTE_MS)
    times = asked_times(stage, "profiles", 320)
    assert len([at_ms for at_ms in times if at_ms < 1_000]) >= 3
    assert len([at_ms for at_ms in times if at_ms < 10_000]) <= 15
    assert len(times) <= 25
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert gaps == sorted(gaps)


def test_expression_and_eyes_are_read_at_their_own_pace() -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=MINUTE_MS)
    assert stage.asked.times["expressions"] == pytest.approx(MINUTE_MS / MOOD_EVERY_MS, rel=0.1)
    assert stage.asked.times["eyes"] == pytest.approx(MINUTE_MS / EYES_EVERY_MS, rel=0.2)
    assert stage.asked.times["eyes"] <= MINUTE_MS / EYES_EVERY_MS + 1
    assert stage.asked.times["directions"] == MINUTE_MS / 100
    assert stage.asked.times["bodies"] == 0


def test_pace_is_by_time_not_by_frames() -> None:
    counts = []
    for gap_ms in (67, 100, 200):
        stage = Stage()
        stage.play(Actor(), until_ms=20_000, gap_ms=gap_ms)
        counts.append((stage.asked.times["profiles"], stage.asked.times["expressions"]))
    assert max(ages for ages, _ in counts) - min(ages for ages, _ in counts) <= 3
    assert max(moods for _, moods in counts) <= 20_000 / MOOD_EVERY_MS + 1


def test_whose_turn_it_is_does_not_depend_on_random_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for numbers in (range(1, 9), range(9, 1, -1)):
        ids = iter(numbers)
        monkeypatch.setattr(tracks.uuid, "uuid4", lambda ids=ids: uuid.UUID(int=next(ids)))
        stage = Stage()
        stage.play(*FIVE, until_ms=3_000)
        asked.append(stage.asked.faces)
    assert asked[0] == asked[1]


def test_at_most_so_many_faces_at_once_and_everybody_has_a_turn() -> None:
    stage = Stage()
    stage.play(*FIVE, until_ms=10_000)
    for net in ("profiles", "expressions"):
        assert max(len(faces) for _, faces in stage.asked.faces[net]) == ASKED_AT_ONCE
        assert len({at_ms for at_ms, _ in stage.asked.faces[net]}) == len(stage.asked.faces[net])
        first = [min(asked_times(stage, net, actor.x)) for actor in FIVE]
        assert max(first) <= 300
        counts = [len(asked_times(stage, net, actor.x)) for actor in FIVE]
        assert max(counts) - min(counts) <= 2


def test_expression_of_who_looks_away_is_read_rarely() -> None:
    stage = Stage()
    stage.play(Actor(yaw=25), until_ms=20_000)
    assert stage.asked.times["expressions"] == pytest.approx(20_000 / MOOD_UNSEEN_EVERY_MS, abs=1)


@pytest.mark.parametrize("actor", [Actor(yaw=60), Actor(size=16), Actor(x=20), Actor(mesh_confidence=0.1)])
def test_view_that_tells_nothing_is_not_read(actor: Actor) -> None:
    """Turned away, tiny, cut by the picture's edge, no face at all."""
    stage = Stage()
    stage.play(actor, until_ms=3_000)
    assert stage.asked.times["profiles"] == stage.asked.times["expressions"] == 0


def test_better_view_is_read_at_once() -> None:
    stage = Stage()
    stage.play(Actor(yaw=35), until_ms=30_000)
    asked = len(stage.asked.faces["profiles"])
    last_ms = stage.asked.faces["profiles"][-1][0]
    stage.play(Actor(yaw=0), since_ms=30_000, until_ms=30_500)
    times = [at_ms for at_ms, _ in stage.asked.faces["profiles"][asked:]]
    assert times[0] == max(30_000, last_ms + BETTER_AFTER_MS)


def test_profile_is_overdue_by_how_often_it_was_read() -> None:
    for readings, wait_ms in [(1, 300), (4, 1_000), (10, 4_000), (30, 15_000)]:
        profile = Profile(readings=readings, read_ms=10_000, best_view=0.8)
        assert profile_overdue_ms(profile, view=0.8, at_ms=10_000 + wait_ms) == 0
        assert profile_overdue_ms(profile, view=0.3, at_ms=10_000 + wait_ms) < 0
    assert PROFILE_EVERY_MS[0][1] < PROFILE_EVERY_MS[-1][1]
    assert profile_overdue_ms(Profile(), view=0.1, at_ms=5_000) == 5_000


def test_mood_is_overdue_sooner_while_looking() -> None:
    mood = Mood(readings=1, read_ms=1_000)
    assert mood_overdue_ms(mood, looking=True, at_ms=1_000 + MOOD_EVERY_MS) == 0
    assert mood_overdue_ms(mood, looking=False, at_ms=1_000 + MOOD_EVERY_MS) < 0
    assert mood_overdue_ms(Mood(), looking=False, at_ms=77) == 77


def test_large_frontal_sure_faces_are_rated_best() -> None:
    face = Actor(size=100).face
    rated = [rate_view(face, math.radians(angle), whole=True) for angle in (0, 20, 40, 49)]
    assert rated == sorted(rated, reverse=True)
    assert rated[0] == pytest.approx(face.confidence)
    assert rate_view(Actor(size=40).face, 0.0, whole=True) < rated[0]
    assert rate_view(face, 0.0, whole=False) == 0


def test_turn_is_taken_the_short_way_round() -> None:
    assert angle_off_camera(Direction(math.pi - 0.1, 0), Direction(-math.pi + 0.1, 0)) == pytest.approx(0.2)
