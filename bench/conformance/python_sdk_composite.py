"""Composite calls of the historic Python SDK: one blob and one accepted job for each service, 9 requests a frame."""

import io
import time

import requests

from bench.conformance.sdk_visitor import Visitor, checks_of, run_checks

SERVICES = (
    "dummy",
    "face_detection",
    "gaze_analysis",
    "motion_detection",
    "age_and_gender_estimation",
    "face_expression_estimation",
    "sound_localization",
    "scene_analysis",
)
FRAMES = 50
FPS = 10.0
POLL_EVERY_S = 0.02


def check_one_call_is_one_job_for_each_service(visitor: Visitor) -> None:
    composite = visitor.root.services.get_services(["dummy", ("face_detection", 1)])
    answers = composite.process({"image": visitor.picture(), "echo": "both"}).result
    assert {answers[name]["status"] for name in ("dummy", "face_detection")} == {202}, answers
    assert visitor.await_result(answers["dummy"]["url"])["echo"] == "both"
    assert visitor.await_result(answers["face_detection"]["url"])["nb_faces"] == 1


def check_ten_frames_a_second_of_all_eight_services(visitor: Visitor) -> None:
    """In a session. The SDK repeats nothing, so whatever is refused is lost: nothing may be."""
    composite = visitor.root.services.get_services(list(SERVICES))
    composite.enable_session({"baseline": 0.2, "sound": visitor.root.blobs.create(visitor.sound())})
    film = visitor.film("passing")[20 : 20 + FRAMES]
    began, late_s, urls = time.monotonic(), 0.0, []
    for number, picture in enumerate(film):
        due = began + number / FPS
        time.sleep(max(0.0, due - time.monotonic()))
        late_s = max(late_s, time.monotonic() - due)
        answers = composite.process({"image": io.BytesIO(picture)}).result
        missing = [name for name in SERVICES if name not in answers]
        assert not missing, f"frame {number}: refused by {missing}"
        urls += [answers[name]["url"] for name in SERVICES]
    took_s = time.monotonic() - began
    assert len(urls) == FRAMES * len(SERVICES)
    for url in urls:
        result = visitor.await_result(url)
        assert "error" not in result, result
        time.sleep(POLL_EVERY_S)
    assert took_s < FRAMES / FPS * 1.5, f"{FRAMES} frames took {took_s:.1f} s; at worst {late_s:.1f} s late"


def check_a_refused_call_is_not_repeated(visitor: Visitor) -> None:
    """What the SDK does with an error: it raises, once; a program that goes on sends its next frame."""
    status = None
    try:
        visitor.service("face_detection").process({"image": "attachment://nothing"})
    except requests.HTTPError as error:
        status = None if error.response is None else error.response.status_code
    assert status == 400, status


if __name__ == "__main__":
    run_checks(checks_of(globals()))
