"""Supplement, 'Result shapes of the services': one test a row, over HTTPS, on real pictures and sounds."""

import io
import math
import wave
from typing import Any

import httpx2
import numpy as np
import pytest

from testkit.pictures import empty_wall, labelled, on_a_wall, portrait
from wire import multipart, new_state

COMMON = {"url", "uuid", "status", "expires_at"}
FACE = {"roi", "roi_confidence"}


def compute(client: httpx2.Client, service: str, **attachments: bytes) -> dict[str, Any]:
    """The result of a synchronous job without a session."""
    return compute_with(client, service, {}, **attachments)


def compute_with(client: httpx2.Client, service: str, more: dict[str, Any], **attachments: bytes) -> dict[str, Any]:
    meta = {"async": False} | {name: f"attachment://{name}" for name in attachments} | more
    answer = client.post(f"/services/{service}/1/jobs", files=multipart(meta, **attachments))
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return {name: value for name, value in body.items() if name not in COMMON}


def only_face(result: dict[str, Any]) -> dict[str, Any]:
    assert set(result) == {"input_size", "nb_faces", "faces"}
    assert result["nb_faces"] == len(result["faces"]) == 1
    face: dict[str, Any] = result["faces"][0]
    return face


def recording(*, delay: int = 6, frames: int = 24_000, rate: int = 48_000, channels: int = 2) -> bytes:
    """Noise that reaches the second microphone first, by so many samples."""
    noise = np.random.default_rng(1).normal(0, 3000, frames + delay)
    both = np.stack([noise[:frames], noise[delay : frames + delay]], axis=1)[:, :channels]
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(both.astype("<i2").tobytes())
    return file.getvalue()


def test_row_coordinates_are_pixels_of_the_sent_image(client: httpx2.Client) -> None:
    """A `roi` is `[x, y, width, height]`; confidences are in [0, 1]."""
    near = only_face(compute(client, "face_detection", image=on_a_wall(portrait(), left=0, top=0)))
    far = only_face(compute(client, "face_detection", image=on_a_wall(portrait(), left=400, top=200)))
    assert far["roi"] == pytest.approx([near["roi"][0] + 400, near["roi"][1] + 200, *near["roi"][2:]], abs=5)
    assert all(isinstance(number, int) for number in far["roi"])
    assert 0 <= far["roi_confidence"] <= 1


def test_row_input_size_is_height_and_width(client: httpx2.Client) -> None:
    assert compute(client, "face_detection", image=empty_wall())["input_size"] == [480, 640]


def test_row_face_detection(client: httpx2.Client) -> None:
    """`input_size, nb_faces, faces[roi, roi_confidence]`."""
    assert set(only_face(compute(client, "face_detection", image=portrait()))) == FACE
    assert compute(client, "face_detection", image=empty_wall())["faces"] == []


def test_row_age_and_gender_estimation(client: httpx2.Client) -> None:
    """`age, age_confidence, gender ("male"/"female"), gender_confidence`."""
    face = only_face(compute(client, "age_and_gender_estimation", image=portrait()))
    assert set(face) == FACE | {"age", "age_confidence", "gender", "gender_confidence"}
    assert 25 <= face["age"] <= 45
    assert face["gender"] == "female"
    assert 0 <= face["age_confidence"] <= 1
    assert 0.5 <= face["gender_confidence"] <= 1


def test_row_face_expression_estimation(client: httpx2.Client) -> None:
    """`neutral, happiness, surprise, anger, sadness`, each in [0, 1]."""
    face = only_face(compute(client, "face_expression_estimation", image=portrait()))
    shares = {name: face[name] for name in ("neutral", "happiness", "surprise", "anger", "sadness")}
    assert set(face) == FACE | set(shares)
    assert all(0 <= share <= 1 for share in shares.values())
    assert sum(shares.values()) == pytest.approx(1, abs=0.001)
    assert max(shares, key=lambda name: shares[name]) == "happiness"


def test_row_gaze_analysis(client: httpx2.Client) -> None:
    """`eye_left, eye_right, nose` (points), `head_yaw, head_pitch, head_roll, gaze_yaw, gaze_pitch` in radians."""
    face = only_face(compute(client, "gaze_analysis", image=portrait()))
    angles = {"head_yaw", "head_pitch", "head_roll", "gaze_yaw", "gaze_pitch"}
    assert set(face) == FACE | {"eye_left", "eye_right", "nose"} | angles
    assert face["eye_left"][0] < face["nose"][0] < face["eye_right"][0]
    assert face["nose"][1] > max(face["eye_left"][1], face["eye_right"][1])
    assert all(abs(face[angle]) < math.radians(25) for angle in angles)


def test_row_motion_detection(client: httpx2.Client) -> None:
    """`input_size, nb_targets, targets[mean_position, mean_velocity, confidence]`."""
    state = {"state": new_state()}
    shots = [on_a_wall(portrait(), left=100 + 12 * step, top=100) for step in range(3)]
    results = [compute_with(client, "motion_detection", state, image=shot) for shot in shots]
    assert results[0] == {"input_size": [480, 640], "nb_targets": 0, "targets": []}
    (target,) = results[2]["targets"]
    assert set(target) == {"mean_position", "mean_velocity", "confidence"}
    assert target["mean_velocity"] == pytest.approx([12, 0], abs=2.4)
    assert 0 <= target["confidence"] <= 1


def test_row_motion_detection_without_a_session_has_no_targets(client: httpx2.Client) -> None:
    """There is nothing to compare with."""
    for left in (100, 112):
        result = compute(client, "motion_detection", image=on_a_wall(portrait(), left=left, top=100))
        assert result == {"input_size": [480, 640], "nb_targets": 0, "targets": []}


def test_row_sound_localization(client: httpx2.Client) -> None:
    """`sound`, `baseline`, `sensitivity` to `input_size`, `nb_sources`, `sources[index, yaw, confidence]`."""
    result = compute_with(client, "sound_localization", {"baseline": 0.2, "sensitivity": 0.5}, sound=recording())
    assert set(result) == {"input_size", "nb_sources", "sources"}
    assert result["input_size"] == 24_000
    (source,) = result["sources"]
    assert set(source) == {"index", "yaw", "confidence"}
    assert source["index"] == 0
    assert source["yaw"] == pytest.approx(math.asin(343 * 6 / 48_000 / 0.2), abs=math.radians(3))
    assert 0 <= source["confidence"] <= 1


@pytest.mark.parametrize("wrong", [recording(rate=44_100), recording(channels=1), b"RIFF", b"no sound at all"])
def test_row_sound_localization_takes_pcm_16_bit_48_khz_stereo_only(client: httpx2.Client, wrong: bytes) -> None:
    result = compute_with(client, "sound_localization", {"baseline": 0.2}, sound=wrong)
    assert result["error_code"] == "bad_sound"
    assert "48" in result["error"]


@pytest.mark.parametrize("service", ["face_detection", "age_and_gender_estimation", "gaze_analysis"])
def test_row_an_undecodable_image_is_a_failure_of_the_job(client: httpx2.Client, service: str) -> None:
    """Jobs: a computation that fails is not an HTTP error: its result has `error` and `error_code`."""
    result = compute(client, service, image=b"no picture at all")
    assert result == {
        "error": "The image is neither JPEG nor PNG. Send a whole JPEG or PNG file.",
        "error_code": "bad_image",
    }


def test_row_face_detection_with_a_session_reports_a_face_from_its_fourth_consecutive_sighting(
    client: httpx2.Client,
) -> None:
    state = {"state": new_state()}
    there, gone = on_a_wall(portrait(), left=100, top=100), empty_wall()

    def counts(*shots: bytes) -> list[int]:
        return [compute_with(client, "face_detection", state, image=shot)["nb_faces"] for shot in shots]

    assert counts(there, there, there, there, there) == [0, 0, 0, 1, 1]
    assert counts(gone, there, there, there, there) == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("service", "member"),
    [("gaze_analysis", "head_yaw"), ("face_expression_estimation", "neutral"), ("age_and_gender_estimation", "age")],
)
def test_with_a_session_what_is_read_of_a_face_is_smoothed_over_its_track(
    client: httpx2.Client, service: str, member: str
) -> None:
    """Two people hang at the same place, one after the other: the second is read as something between the two."""
    shots = [on_a_wall(labelled(f"congress_pd/{name}.jpg"), left=100, top=100) for name in ("A000055", "M001160")]
    alone = [only_face(compute(client, service, image=shot))[member] for shot in shots]
    state = {"state": new_state()}
    first, second = (only_face(compute_with(client, service, state, image=shot))[member] for shot in shots)
    assert first == alone[0]
    assert second == pytest.approx(sum(alone) / 2, abs=0.06)
    assert abs(alone[0] - alone[1]) > 0.01
