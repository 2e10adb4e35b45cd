"""A camera that shows nothing is noticed: frozen, black, or without frames."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_client.sources.condition import Condition, ConditionMonitor, Judgement

CHANCE = np.random.default_rng(8)


def scene(noise: int = 3) -> Any:
    still = np.linspace(20, 220, 640, dtype=np.uint8)[None, :, None].repeat(480, 0).repeat(3, 2)
    return still + CHANCE.integers(0, noise, still.shape, dtype=np.uint8) if noise else still


def covered(noise: int = 12) -> Any:
    return CHANCE.integers(0, noise, (480, 640, 3), dtype=np.uint8)


def watch_for(pictures: list[Any], *, is_live: bool = True, fps: float = 10.0) -> list[Judgement]:
    watch = ConditionMonitor(100.0, is_live=is_live)
    return [watch.see(picture, 100.0 + place / fps) for place, picture in enumerate(pictures)]


def test_a_still_scene_before_a_real_sensor_is_fine() -> None:
    pictures = [scene() for _ in range(10)]
    assert {said.condition for said in watch_for([pictures[n % 10] for n in range(200)])} == {Condition.FINE}


def test_the_same_picture_for_ten_seconds_is_frozen_from_its_first_one_on() -> None:
    said = watch_for([scene()] + [scene(0)] * 102)
    assert [one.condition for one in said[:101]] == [Condition.FINE] * 101
    assert said[-1] == Judgement(Condition.FROZEN, 100.1)


def test_a_film_that_stands_still_is_not_judged() -> None:
    assert watch_for([scene(0)] * 200, is_live=False)[-1].condition is Condition.FINE


def test_a_frozen_picture_that_moves_again_is_fine_at_once() -> None:
    said = watch_for([scene(0)] * 120 + [scene()])
    assert said[-2].condition is Condition.FROZEN
    assert said[-1] == Judgement(Condition.FINE, 112.0)


@pytest.mark.parametrize("noise", [1, 12, 39])
def test_a_covered_lens_is_black_after_five_seconds(noise: int) -> None:
    pictures = [covered(noise) for _ in range(5)]
    said = watch_for([pictures[n % 5] for n in range(60)])
    assert said[49].condition is Condition.FINE
    assert said[50] == Judgement(Condition.BLACK, 100.0)


def test_a_dark_room_with_a_lit_sign_is_not_black() -> None:
    room = covered()
    room[200:260, 300:380] = 200
    assert watch_for([room + CHANCE.integers(0, 2, room.shape, dtype=np.uint8) for _ in range(80)])[-1].condition is (
        Condition.FINE
    )


def test_a_few_broken_pixels_do_not_hide_that_it_is_black() -> None:
    dark = covered()
    dark.reshape(-1, 3)[:: 640 * 480 // 50] = 255
    assert watch_for([dark] * 60)[-1].condition is Condition.BLACK


def test_grey_pictures_are_judged_too() -> None:
    assert watch_for([covered()[:, :, 0]] * 60)[-1].condition is Condition.BLACK


def test_no_frame_for_five_seconds_is_said_by_the_clock() -> None:
    watch = ConditionMonitor(100.0, is_live=True)
    watch.see(scene(), 101.0)
    assert watch.check(105.9).condition is Condition.FINE
    assert watch.check(106.0) == Judgement(Condition.NO_FRAME, 101.0)
    assert watch.see(scene(), 107.0) == Judgement(Condition.FINE, 107.0)


def test_a_camera_that_never_gave_a_frame_is_noticed() -> None:
    assert ConditionMonitor(100.0, is_live=True).check(105.0) == Judgement(Condition.NO_FRAME, 100.0)


def test_one_that_comes_back_with_the_same_picture_is_not_frozen_yet() -> None:
    watch = ConditionMonitor(0.0, is_live=True)
    still = scene(0)
    watch.see(still, 1.0)
    watch.check(20.0)
    assert watch.see(still, 21.0).condition is Condition.FINE
    for tenth in range(99):
        watch.see(still, 21.1 + tenth / 10)
    assert watch.see(still, 31.0) == Judgement(Condition.FROZEN, 21.0)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 4, 3), (8, 8, 3), (1080, 1920, 3)])
def test_any_size_can_be_judged(shape: tuple[int, ...]) -> None:
    watch_for([np.full(shape, 90, np.uint8)] * 3)


@given(st.lists(st.tuples(st.sampled_from(["scene", "still", "dark", "none"]), st.floats(0.01, 8)), max_size=40))
def test_whatever_comes_a_judgement_never_begins_later_than_now_and_stays_while_it_holds(
    steps: list[tuple[str, float]],
) -> None:
    pictures = {"scene": np.full((16, 16), 90, np.uint8), "still": np.full((16, 16), 120, np.uint8)}
    pictures["dark"] = np.zeros((16, 16), np.uint8)
    watch, now_s, last = ConditionMonitor(0.0, is_live=True), 0.0, Judgement(Condition.FINE, 0.0)
    for what, pause_s in steps:
        now_s += pause_s
        said = watch.check(now_s) if what == "none" else watch.see(pictures[what], now_s)
        assert 0.0 <= said.since_s <= now_s
        assert what == "none" or said.condition is not Condition.NO_FRAME
        if said.condition is last.condition:
            assert said.since_s == last.since_s
        last = said
