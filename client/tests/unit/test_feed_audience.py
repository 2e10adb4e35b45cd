"""What the local feed says of people: numbers that mean nothing, looks, places, bands."""

import json
from dataclasses import replace

import pytest
from feed_reader import AT_CAMERA, AWAY, HIDDEN, computed

from onlooker_client.device.audience import Audience, age_band


class SteppedClock:
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def audience(clock: SteppedClock) -> Audience:
    return Audience(clock=clock)


def test_somebody_who_looks_is_described_without_their_id(audience: Audience, clock: SteppedClock) -> None:
    audience.see(computed(first=AT_CAMERA))
    clock.now_s += 1.2
    said = audience.see(computed(1_800_000_000_123, first=AT_CAMERA))
    assert said == {
        "at_ms": 1_800_000_000_123,
        "watching": True,
        "people": [
            {
                "number": 1,
                "in_view_s": 1.2,
                "looking": True,
                "looking_s": 1.2,
                "x": 0.5,
                "y": 0.5,
                "face": 0.167,
                "age_band": "25-34",
                "gender": "female",
            }
        ],
    }
    assert "first" not in json.dumps(said)


def test_where_people_are_told_about_in_groups_nobody_is_described(clock: SteppedClock) -> None:
    said = Audience(clock=clock, tells_attributes=False).see(computed(first=AT_CAMERA))
    assert said
    (one,) = said["people"]
    assert (one["looking"], one["age_band"], one["gender"]) == (True, None, None)


def test_a_look_lasts_over_a_hidden_face_and_ends_after_half_a_second(audience: Audience, clock: SteppedClock) -> None:
    seen = []
    for member in (AT_CAMERA, AT_CAMERA, HIDDEN, AT_CAMERA, AWAY, AWAY, AWAY):
        said = audience.see(computed(one=member))
        assert said
        seen.append((said["people"][0]["looking"], said["people"][0]["looking_s"]))
        clock.now_s += 0.2
    assert seen == [(True, 0.0), (True, 0.2), (True, 0.4), (True, 0.6), (True, 0.8), (True, 1.0), (False, 0.0)]


def test_who_comes_back_gets_another_number(audience: Audience) -> None:
    def numbers(**people: object) -> list[int]:
        said = audience.see(computed(**people))
        assert said
        return [person["number"] for person in said["people"]]

    assert numbers(a=AWAY, b=AWAY) == [1, 2]
    assert numbers(b=AWAY) == [2]
    assert numbers(a=AWAY, b=AWAY) == [3, 2]


def test_who_disappears_with_this_frame_is_gone(audience: Audience) -> None:
    said = audience.see(computed(a=HIDDEN, events=[{"type": "disappearance", "entity_id": "a"}]))
    assert said
    assert said["people"] == []


def test_a_body_without_a_face_is_in_view_and_looks_nowhere(audience: Audience) -> None:
    said = audience.see(computed(bodies={"b": {"full_body_roi": [320, 160, 64, 160]}}))
    assert said
    (person,) = said["people"]
    assert (person["x"], person["y"], person["face"]) == (0.55, 0.375, None)
    assert (person["looking"], person["age_band"], person["gender"]) == (False, None, None)


def test_a_hidden_face_is_where_the_body_is(audience: Audience) -> None:
    said = audience.see(computed(a={**HIDDEN, "full_body_roi": [0, 0, 64, 480]}))
    assert said
    assert [(one["x"], one["y"], one["face"]) for one in said["people"]] == [(0.05, 0.125, None)]


def test_a_blind_camera_knows_nobody(audience: Audience) -> None:
    audience.see(computed(a=AWAY))
    said = audience.see(replace(computed(a=AWAY), blind="dark"))
    assert said
    assert (said["watching"], said["people"]) == (False, [])


@pytest.mark.parametrize("late", [True, False])
def test_a_frame_that_was_not_computed_changes_nothing(audience: Audience, *, late: bool) -> None:
    frame = replace(computed(), refused="" if late else "compute_busy", result={"late": True} if late else {})
    assert audience.see(frame) is None


@pytest.mark.parametrize(
    ("age", "band"),
    [(0.0, None), (0.4, "0-14"), (14.9, "0-14"), (15, "15-24"), (34.99, "25-34"), (64, "55-64"), (93, "65+")],
)
def test_an_age_is_said_as_a_band(age: float, band: "str | None") -> None:
    assert age_band(age) == band


def test_what_the_stream_has_switched_off_is_unknown(audience: Audience) -> None:
    said = audience.see(computed(a={**AT_CAMERA, "age": 0.0, "gender": "unknown"}))
    assert said
    assert (said["people"][0]["age_band"], said["people"][0]["gender"]) == (None, None)
