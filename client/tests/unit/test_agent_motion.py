"""Motion in a few thousand points: seen from the first frame on, and not in noise or slow light."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from onlooker_client.agent.capture.motion import MotionDetector

TESTDATA = Path(__file__).resolve().parents[4] / "shared" / "testdata"
HEIGHT, WIDTH = 480, 640


@pytest.fixture
def room() -> np.ndarray:
    """A still scene with texture."""
    chance = np.random.default_rng(1)
    rough = chance.integers(40, 200, (12, 16)).astype(np.uint8)
    return cv2.resize(rough, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)


def noisy(picture: np.ndarray, sigma: float, chance: np.random.Generator) -> np.ndarray:
    return np.clip(picture + chance.normal(0, sigma, picture.shape), 0, 255).astype(np.uint8)


def settled(room: np.ndarray, sigma: float, chance: np.random.Generator) -> MotionDetector:
    motion = MotionDetector()
    for _ in range(20):
        motion.see(noisy(room, sigma, chance))
    return motion


def test_the_first_picture_counts_as_motion(room: np.ndarray) -> None:
    assert MotionDetector().see(room)


@pytest.mark.parametrize("sigma", [0.0, 3.0, 5.0])
def test_noise_and_slow_light_are_no_motion(room: np.ndarray, sigma: float) -> None:
    chance = np.random.default_rng(2)
    motion = settled(room, sigma, chance)
    seen = sum(motion.see(noisy(room * (1 + 0.1 * np.sin(beat / 40)), sigma, chance)) for beat in range(80))
    assert seen == 0


@pytest.mark.parametrize("sigma", [0.0, 3.0, 5.0])
@pytest.mark.parametrize("tone", [30, 235])
def test_somebody_at_the_edge_is_seen_at_once(room: np.ndarray, sigma: float, tone: int) -> None:
    chance = np.random.default_rng(3)
    motion = settled(room, sigma, chance)
    entering = room.copy()
    entering[180:, :24] = tone
    assert motion.see(noisy(entering, sigma, chance))


def test_a_light_that_is_switched_is_followed_within_seconds(room: np.ndarray) -> None:
    motion = settled(room, 0.0, np.random.default_rng(4))
    seen = [motion.see((room * 0.5).astype(np.uint8)) for _ in range(60)]
    assert not any(seen[40:])


def test_any_size_and_grey_pictures_work_and_a_new_size_begins_anew(room: np.ndarray) -> None:
    motion = MotionDetector()
    for size in ((640, 480), (1920, 1080), (64, 48), (17, 31)):
        picture = cv2.resize(room, size)
        assert motion.see(picture)
        assert not motion.see(picture)
        assert motion.see(cv2.cvtColor(cv2.resize(room, (300, 200)), cv2.COLOR_GRAY2BGR))


@pytest.mark.skipif(not TESTDATA.is_dir(), reason="the labelled scenes lie beside the project, in ../shared/testdata")
@pytest.mark.parametrize(("scene", "enters_s"), [("basic", 1.5), ("group", 2.4), ("thresholds", 1.6), ("random7", 2.1)])
def test_people_of_labelled_scenes_are_seen_before_they_are_in_view(scene: str, enters_s: float) -> None:
    video, motion = cv2.VideoCapture(str(TESTDATA / "synth" / "out" / f"{scene}.mp4")), MotionDetector()
    seen_s = []
    for number in range(40):
        _, picture = video.read()
        if motion.see(picture) and number:
            seen_s.append(number / 10)
    assert seen_s[0] <= enters_s
