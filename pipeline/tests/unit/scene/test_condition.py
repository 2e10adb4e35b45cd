"""Faults of a camera settle over seconds, and so does their end."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.motion.change import Grey
from onlooker_pipeline.scene.body_search import shrink_picture
from onlooker_pipeline.scene.condition import (
    FROZEN_AFTER_MS,
    LONGEST_STEP_MS,
    SEES_AFTER_MS,
    SETTLES_AFTER_MS,
    ConditionState,
    SceneMemory,
    judge_picture,
    settle_fault,
)
from onlooker_pipeline.scene.picture_fault import measure_picture, trace_picture
from onlooker_pipeline.scene.state import decode_scene, encode_scene, new_scene
from onlooker_pipeline.service_call import PictureFault

BEGAN_MS = 1_700_000_000_000
FRAME_MS = 250
LATEST_MS, OVER_MS = 30_000, 10_000
"""A fault is known at the latest so long after its start, and gone so long after its end."""
HEIGHT, WIDTH = 240, 320


def draw_room(seed: int) -> Grey:
    """Shelves, doors, posters: boxes of many sizes and shades."""
    dice = np.random.default_rng(seed)
    room = np.full((HEIGHT, WIDTH), 110, np.uint8)
    for _ in range(60):
        left, top = dice.integers(0, WIDTH), dice.integers(0, HEIGHT)
        wide, high = dice.integers(8, 70, 2)
        cv2.rectangle(room, (int(left), int(top)), (int(left + wide), int(top + high)), int(dice.integers(20, 230)), -1)
    return room


class Lens:
    """A camera in front of a room, through which somebody walks to and fro."""

    def __init__(self, seed: int = 1) -> None:
        self.room, self.dice = draw_room(seed), np.random.default_rng(seed)
        self.state, self.memory, self.at_ms = ConditionState(), None, BEGAN_MS

    def picture(self) -> Grey:
        second = (self.at_ms - BEGAN_MS) / 1000
        shown = self.room.copy()
        x = int(WIDTH * (0.5 + 0.45 * np.sin(second / 3)))
        cv2.ellipse(shown, (x, 150), (26, 90), 0, 0, 360, 60, -1)
        return self.noisy(shown, 2.0)

    def noisy(self, pixels: Grey, noise: float) -> Grey:
        return np.clip(np.round(pixels + self.dice.normal(0, noise, pixels.shape)), 0, 255).astype(np.uint8)

    def see(self, picture: Grey, *, shows_face: bool = False) -> PictureFault | None:
        self.at_ms += FRAME_MS
        small = shrink_picture(picture)
        self.memory = self.memory or SceneMemory(small)
        self.memory.previous = small
        trace = trace_picture(picture)
        picture = measure_picture(self.memory.previous)
        return judge_picture(self.state, self.memory, picture, trace=trace, at_ms=self.at_ms, shows_face=shows_face)

    def watch(self, seconds: float, *, shows_face: bool = False) -> set[PictureFault | None]:
        return {self.see(self.picture(), shows_face=shows_face) for _ in range(int(seconds * 1000 / FRAME_MS))}


FAULTY = {
    PictureFault.BLACK: lambda lens: lens.noisy(np.zeros((HEIGHT, WIDTH)), 1.5),
    PictureFault.COVERED: lambda lens: lens.noisy(np.full((HEIGHT, WIDTH), 55.0), 3.0),
    PictureFault.DARK: lambda lens: lens.noisy(lens.picture() / 25, 1.5),
    PictureFault.OVEREXPOSED: lambda lens: np.minimum(lens.picture().astype(int) * 5 + 70, 255).astype(np.uint8),
    PictureFault.BLURRED: lambda lens: lens.noisy(cv2.GaussianBlur(lens.picture(), (0, 0), 4), 1.5),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_fault_is_known_in_time_and_over_in_time(fault: PictureFault) -> None:
    lens = Lens()
    assert lens.watch(40) == {None}
    found = [lens.see(FAULTY[fault](lens)) for _ in range(LATEST_MS // FRAME_MS)]
    assert set(found) == {None, fault}
    assert found[-1] is fault
    assert None in lens.watch(OVER_MS / 1000)
    assert lens.watch(30) == {None}


@pytest.mark.parametrize("fault", [PictureFault.BLACK, PictureFault.COVERED, PictureFault.DARK])
def test_a_camera_that_starts_blind_is_known_to_be(fault: PictureFault) -> None:
    lens = Lens()
    assert [lens.see(FAULTY[fault](lens)) for _ in range(LATEST_MS // FRAME_MS)][-1] is fault


@pytest.mark.parametrize("fault", FAULTY)
def test_a_fault_of_a_moment_is_none(fault: PictureFault) -> None:
    """A hand that passes by, a lamp that is switched."""
    lens = Lens()
    for _ in range(10):
        assert lens.watch(20) == {None}
        assert {lens.see(FAULTY[fault](lens)) for _ in range(3_000 // FRAME_MS)} == {None}


def test_a_picture_that_does_not_change_at_all_is_frozen() -> None:
    lens = Lens()
    lens.watch(30)
    still = lens.picture()
    found = [lens.see(still) for _ in range(LATEST_MS // FRAME_MS)]
    assert set(found[: FROZEN_AFTER_MS // FRAME_MS]) == {None}
    assert found[-1] is PictureFault.FROZEN
    assert None in lens.watch(OVER_MS / 1000)


def test_an_empty_room_that_a_sensor_looks_at_is_not_frozen() -> None:
    lens = Lens()
    assert {lens.see(lens.noisy(lens.room, 0.7)) for _ in range(60_000 // FRAME_MS)} == {None}


def test_a_turned_camera_is_told_once_and_watches_on() -> None:
    lens = Lens(1)
    assert lens.watch(40) == {None}
    lens.room = draw_room(2)
    found = [lens.see(lens.picture()) for _ in range(120_000 // FRAME_MS)]
    moved = [number for number, fault in enumerate(found) if fault]
    assert {found[number] for number in moved} == {PictureFault.MOVED}
    assert moved[0] * FRAME_MS < LATEST_MS
    assert len(moved) * FRAME_MS <= OVER_MS
    assert moved == list(range(moved[0], moved[-1] + 1))


def test_a_camera_that_was_turned_while_it_was_covered_has_moved() -> None:
    lens = Lens(1)
    lens.watch(40)
    for _ in range(20_000 // FRAME_MS):
        lens.see(FAULTY[PictureFault.COVERED](lens))
    lens.room = draw_room(2)
    assert PictureFault.MOVED in lens.watch(30)


def test_a_lamp_that_is_switched_moves_nothing() -> None:
    lens = Lens()
    assert lens.watch(40) == {None}
    lens.room = (lens.room * 0.4 + 12).astype(np.uint8)
    assert lens.watch(60) == {None}


def test_in_the_dark_a_camera_that_finds_a_face_sees() -> None:
    lens = Lens()
    found = {lens.see(FAULTY[PictureFault.DARK](lens), shows_face=True) for _ in range(30_000 // FRAME_MS)}
    assert found == {None}


@given(st.lists(st.tuples(st.sampled_from([None, *PictureFault]), st.integers(1, 20_000)), max_size=60))
def test_nothing_settles_sooner_or_ends_later_than_it_may(frames: list[tuple[PictureFault | None, int]]) -> None:
    """Against plain sums over the frames."""
    state, at_ms = ConditionState(), BEGAN_MS
    seen_ms, faulty_ms = 0, dict.fromkeys(PictureFault, 0)
    settle_fault(state, None, at_ms)
    for fault, step_ms in frames:
        at_ms += step_ms
        before, counted_ms = state.settled, min(step_ms, LONGEST_STEP_MS)
        settled = settle_fault(state, fault, at_ms)
        seen_ms = seen_ms + counted_ms if fault is None else 0
        if fault:
            faulty_ms[fault] += counted_ms
        if settled and settled is not before:
            assert settled is fault
            assert faulty_ms[settled] >= SETTLES_AFTER_MS[settled]
        if before and not settled:
            assert seen_ms >= SEES_AFTER_MS
        if seen_ms >= SEES_AFTER_MS:
            assert settled is None
            faulty_ms = dict.fromkeys(PictureFault, 0) if before else faulty_ms


def test_the_state_travels_with_the_scene_and_stays_small() -> None:
    scene = new_scene(BEGAN_MS, 640, 480)
    bare = len(encode_scene(scene))
    settle_fault(scene.condition, PictureFault.DARK, BEGAN_MS)
    settle_fault(scene.condition, PictureFault.DARK, BEGAN_MS + 12_000)
    settle_fault(scene.condition, PictureFault.BLURRED, BEGAN_MS + 13_000)
    encoded = encode_scene(scene)
    found = decode_scene(encoded)
    assert found is not None
    assert found.condition == scene.condition
    assert len(encoded) - bare < 100
