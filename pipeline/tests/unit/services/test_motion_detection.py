"""What moved between two pictures of a session."""

import math
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from onlooker_pipeline.motion.targets import TARGET_LIMIT, find_targets
from onlooker_pipeline.service_call import Call, ComputeError, SessionMemory
from onlooker_pipeline.services.motion_detection import compute

KEPT_LIMIT_BYTES = 320 * 1024
Scene = NDArray[np.float32]


class Camera:
    """A session of the service, fed with scenes as a camera would send them."""

    def __init__(self) -> None:
        self.memory = SessionMemory()
        self.state: Any = None

    def send(self, scene: Scene, *, sigma: float = 3.0, seed: int = 0) -> list[dict[str, Any]]:
        return list(self.answer(photograph(scene, sigma=sigma, seed=seed))["targets"])

    def answer(self, image: bytes) -> dict[str, Any]:
        call = Call({}, {"image": image}, in_session=True, memory=self.memory)
        result, self.state = compute(call, self.state)
        assert result["nb_targets"] == len(result["targets"])
        return result


def photograph(scene: Scene, *, sigma: float, seed: int) -> bytes:
    noisy = scene + np.random.default_rng(seed).normal(0, sigma, scene.shape)
    picture = np.clip(np.rint(noisy), 0, 255).astype(np.uint8)
    return cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()


def ground(shape: tuple[int, int] = (480, 640), *, seed: int = 1) -> Scene:
    """A wall with soft blots."""
    rough = np.random.default_rng(seed).normal(0, 1, (shape[0] // 16, shape[1] // 16)).astype(np.float32)
    return np.asarray(110 + 12 * cv2.resize(rough, shape[::-1], interpolation=cv2.INTER_CUBIC), np.float32)


def with_square(scene: Scene, centre: tuple[float, float], size: int, *, textured: bool = False) -> Scene:
    looks = np.full((size, size), 200, np.float32)
    if textured:
        rough = np.random.default_rng(size).normal(0, 35, (max(3, size // 6),) * 2).astype(np.float32)
        looks = np.clip(looks + cv2.resize(rough, (size, size), interpolation=cv2.INTER_CUBIC), 5, 250)
    left, top = round(centre[0] - (size - 1) / 2), round(centre[1] - (size - 1) / 2)
    drawn = scene.copy()
    drawn[top : top + size, left : left + size] = looks
    return drawn


def assert_is_at(target: dict[str, Any], centre: tuple[float, float], velocity: tuple[float, float]) -> None:
    assert math.dist(target["mean_position"], centre) <= 5
    assert math.dist(target["mean_velocity"], velocity) <= 0.2 * math.hypot(*velocity)
    assert 0 < target["confidence"] <= 1


@pytest.mark.parametrize("textured", [False, True])
@pytest.mark.parametrize(
    ("size", "velocity"), [(21, (2, 0)), (21, (-28, 28)), (61, (0, 5)), (61, (40, 0)), (121, (-2, 1))]
)
def test_a_moving_square_is_found_where_it_is_now(size: int, velocity: tuple[int, int], textured: bool) -> None:
    camera, centre = Camera(), (300, 240)
    for picture in range(3):
        now = (centre[0] + picture * velocity[0], centre[1] + picture * velocity[1])
        targets = camera.send(with_square(ground(), now, size, textured=textured), seed=picture)
        if picture:
            assert len(targets) == 1
            assert_is_at(targets[0], now, velocity)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(10, 50), st.integers(150, 490), st.integers(150, 330), st.floats(2, 40), st.floats(-math.pi, math.pi)
)
def test_any_plain_square_on_a_plain_wall_is_found(half: int, x: int, y: int, speed: float, angle: float) -> None:
    size, wall = 2 * half + 1, np.full((480, 640), 120, np.float32)
    velocity = (round(speed * math.cos(angle)), round(speed * math.sin(angle)))
    camera = Camera()
    camera.send(with_square(wall, (x, y), size), seed=1)
    now = (x + velocity[0], y + velocity[1])
    targets = camera.send(with_square(wall, now, size), seed=2)
    if math.hypot(*velocity) >= 2:
        assert len(targets) == 1
        assert_is_at(targets[0], now, velocity)


def test_things_that_go_different_ways_are_several_targets() -> None:
    things = {(120, 120): (10, 0), (480, 130): (0, 14), (150, 360): (-6, -6), (480, 350): (-20, 4)}
    camera = Camera()
    for picture in (0, 1):
        scene = ground()
        for number, (start, velocity) in enumerate(things.items()):
            now = (start[0] + picture * velocity[0], start[1] + picture * velocity[1])
            scene = with_square(scene, now, 41 + 10 * number, textured=number % 2 == 0)
        targets = camera.send(scene, seed=picture)
    assert len(targets) == len(things)
    for start, velocity in things.items():
        now = (start[0] + velocity[0], start[1] + velocity[1])
        assert_is_at(min(targets, key=lambda target: math.dist(target["mean_position"], now)), now, velocity)


@pytest.mark.parametrize("sigma", [0.0, 3.0, 8.0])
def test_nothing_moves_in_a_static_noisy_scene(sigma: float) -> None:
    camera = Camera()
    scene = with_square(with_square(ground(), (200, 200), 81, textured=True), (450, 250), 61)
    assert [camera.send(scene, sigma=sigma, seed=seed) for seed in range(6)] == [[]] * 6


def test_a_flickering_lamp_moves_nothing() -> None:
    camera = Camera()
    scene = with_square(ground(), (200, 200), 81)
    assert [camera.send(scene * light, seed=seed) for seed, light in enumerate((1, 1.15, 0.9, 1.05))] == [[]] * 4


def test_a_square_is_found_under_a_flickering_lamp() -> None:
    camera = Camera()
    camera.send(with_square(ground(), (200, 200), 61), seed=1)
    (target,) = camera.send(0.85 * with_square(ground(), (208, 195), 61), seed=2)
    assert_is_at(target, (208, 195), (8, -5))


def test_a_lamp_switched_on_gives_no_targets() -> None:
    camera = Camera()
    pool = 0.4 + 1.2 * np.exp(-np.square((np.arange(640) - 300) / 150)).astype(np.float32)
    camera.send(0.5 * ground(), seed=1)
    assert camera.send(ground() * pool, seed=2) == []


def test_a_shaken_camera_moves_no_things() -> None:
    wide = with_square(with_square(ground((520, 680)), (300, 200), 91), (500, 400), 61, textured=True)
    camera = Camera()
    camera.send(wide[20:500, 20:660], seed=1)
    assert camera.send(wide[27:507, 12:652], seed=2) == []


def test_targets_are_never_many() -> None:
    rng = np.random.default_rng(7)
    for _ in range(3):
        noise = [rng.integers(0, 256, (60, 80), np.uint8) for _ in range(2)]
        previous, present = (cv2.resize(grey, (320, 240), interpolation=cv2.INTER_NEAREST) for grey in noise)
        assert find_targets(previous, present) == []
    before = np.full((240, 320), 120, np.uint8)
    after = before.copy()
    for row in range(8, 232, 16):
        for column in range(8, 312, 16):
            before[row : row + 7, column : column + 7] = 20
            down, right = rng.integers(-4, 5, 2)
            after[row + down : row + down + 7, column + right : column + right + 7] = 20
    assert len(find_targets(before, after)) <= TARGET_LIMIT


def test_the_first_picture_has_no_targets_and_says_its_size() -> None:
    result = Camera().answer(photograph(ground((120, 200)), sigma=1, seed=0))
    assert result == {"input_size": [120, 200], "nb_targets": 0, "targets": []}


def moving_pictures(count: int) -> list[bytes]:
    scenes = [with_square(ground(), (200 + 10 * number, 240), 61) for number in range(count)]
    return [photograph(scene, sigma=2, seed=number) for number, scene in enumerate(scenes)]


def test_a_session_on_another_worker_answers_once_without_targets() -> None:
    camera, pictures = Camera(), moving_pictures(4)
    counts = [camera.answer(picture)["nb_targets"] for picture in pictures[:2]]
    camera.memory = SessionMemory()
    counts += [camera.answer(picture)["nb_targets"] for picture in pictures[2:4]]
    assert counts == [0, 1, 0, 1]


def test_a_picture_of_another_size_begins_anew() -> None:
    camera = Camera()
    camera.send(with_square(ground(), (200, 200), 61))
    assert camera.send(with_square(ground((240, 320)), (100, 100), 31)) == []
    assert len(camera.send(with_square(ground((240, 320)), (106, 100), 31))) == 1


def test_the_state_holds_nothing_of_the_picture() -> None:
    camera = Camera()
    for picture in moving_pictures(2):
        camera.answer(picture)
    assert camera.state is None


@pytest.mark.parametrize("shape", [(3648, 5472), (480, 640), (360, 480), (359, 480), (1000, 20000), (720, 1280)])
def test_what_is_kept_is_small_whatever_was_sent(shape: tuple[int, int]) -> None:
    camera = Camera()
    image = cv2.imencode(".jpg", np.full(shape, 120, np.uint8))[1].tobytes()
    assert camera.answer(image)["input_size"] == list(shape)
    assert camera.memory.size_bytes == camera.memory.kept.grey.nbytes <= KEPT_LIMIT_BYTES


@pytest.mark.parametrize("shape", [(1, 1), (1, 3000), (10, 60000), (15, 15), (16, 16), (17, 400)])
def test_slivers_are_answered_without_targets(shape: tuple[int, int]) -> None:
    camera = Camera()
    for seed in (1, 2):
        picture = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
        assert camera.answer(cv2.imencode(".png", picture)[1].tobytes())["nb_targets"] == 0
    assert camera.memory.size_bytes <= KEPT_LIMIT_BYTES


def test_a_large_colour_picture_is_answered_in_its_own_pixels() -> None:
    camera = Camera()
    for picture, x in enumerate((700, 760)):
        grey = with_square(ground((1440, 1920)), (x, 600), 181)
        colour = cv2.cvtColor(np.clip(grey, 0, 255).astype(np.uint8), cv2.COLOR_GRAY2BGR)
        targets = camera.answer(cv2.imencode(".jpg", colour)[1].tobytes())["targets"]
        assert len(targets) == picture
    assert_is_at(targets[0], (760, 600), (60, 0))


def test_without_a_session_nothing_is_kept() -> None:
    call = Call({}, {"image": moving_pictures(1)[0]}, in_session=False)
    result, state = compute(call, None)
    assert (result["nb_targets"], state, call.memory.kept) == (0, None, None)


def test_a_damaged_picture_fails_and_leaves_the_session_as_it_was() -> None:
    camera, pictures = Camera(), moving_pictures(2)
    camera.answer(pictures[0])
    with pytest.raises(ComputeError) as caught:
        camera.answer(pictures[1][:1000])
    assert caught.value.code == "bad_image"
    assert camera.answer(pictures[1])["nb_targets"] == 1
