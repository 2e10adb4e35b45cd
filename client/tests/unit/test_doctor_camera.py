"""doctor's checks of a camera. A USB camera can't be had here: videos and network cameras stand for it."""

import base64
import re
import socket
import time
from hashlib import md5
from pathlib import Path

import pytest
from doctor_scenes import locked_camera, network_camera, shop, with_noise, write_video

from onlooker_client.config import Config
from onlooker_client.doctor import camera, examination
from onlooker_client.doctor.checks import CHECKS
from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.findings import Finding, Severity
from onlooker_client.doctor.network_camera import explain_failure


@pytest.fixture(autouse=True)
def short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "SETTLE_S", 0.3)
    monkeypatch.setattr(examination, "LOOK_S", 1.2)
    monkeypatch.setattr(camera, "FROZEN_S", 1.0)


OF_THE_CAMERA = ("camera", "frame_rate", "light", "focus", "noise", "distance", "picture")


def examine(source: str) -> dict[str, Finding]:
    examination = Examination(Config(source=source), clock=time.time)
    try:
        checks = [check for check in CHECKS if check.name in OF_THE_CAMERA]
        return {check.name: check.run(examination) for check in checks}
    finally:
        examination.close()


def test_the_distance_follows_from_the_lens_if_it_is_known(tmp_path: Path) -> None:
    source = str(write_video(tmp_path / "shop.mp4", [shop(seed=number) for number in range(20)]))
    examination = Examination(Config(source=source), clock=time.time, view_degrees=90)
    try:
        camera.check_camera(examination)
        finding = camera.check_distance(examination)
    finally:
        examination.close()
    assert (finding.level, finding.remedy) == (Severity.GOOD, "")
    assert "up to 1.6 m away, with a view of 90 degrees" in finding.figure


def test_a_frozen_camera_is_noticed() -> None:
    with network_camera([shop()]) as url:
        picture = examine(url)["picture"]
    assert picture.level is Severity.BAD
    assert "frozen" in picture.figure


def test_a_camera_that_breaks_off_is_noticed() -> None:
    with network_camera([shop(seed=number) for number in range(4)], shown=8) as url:
        found = examine(url)
    assert found["picture"].level is Severity.BAD
    assert "127.0.0.1" in found["picture"].figure


def test_a_video_that_stands_still_is_not_frozen(tmp_path: Path) -> None:
    video = write_video(tmp_path / "still.mp4", [shop()] * 10)
    assert examine(str(video))["picture"].level is Severity.GOOD


def test_a_short_video_goes_round_and_is_judged(tmp_path: Path) -> None:
    video = write_video(tmp_path / "short.mp4", [shop(seed=number) for number in range(5)])
    found = examine(str(video))
    assert found["frame_rate"].level is Severity.GOOD
    assert found["light"].level is Severity.GOOD


def test_few_pictures_in_the_dark_are_put_down_to_the_dark(tmp_path: Path) -> None:
    video = write_video(tmp_path / "dark.mp4", [with_noise(shop() * 0.2, 1.0, seed=n) for n in range(12)], fps=4)
    found = examine(str(video))
    assert found["frame_rate"].level is Severity.BAD
    assert "light" in found["frame_rate"].remedy
    assert found["focus"].level is Severity.UNCHECKED


def test_what_is_not_there_is_told_with_a_remedy(tmp_path: Path) -> None:
    examination = Examination(Config(source=str(tmp_path / "nothing.mp4")), clock=time.time)
    finding = camera.check_camera(examination)
    assert (finding.level, "does not exist" in finding.figure, bool(finding.remedy)) == (Severity.BAD, True, True)


DIGEST = 'Digest realm="camera", nonce="5f2a", qop="auth"'


def digest_is_right(said: str) -> bool:
    """As RFC 7616 has it, for user and sesame."""
    secret, asked = (md5(text.encode()).hexdigest() for text in ("user:camera:sesame", "GET:/live"))
    chosen = re.search(r'cnonce="?(\w+)', said)
    proof = md5(f"{secret}:5f2a:00000001:{chosen[1]}:auth:{asked}".encode()).hexdigest() if chosen else "none"
    return f'response="{proof}"' in said and 'username="user"' in said


@pytest.mark.parametrize(
    ("login", "challenge", "words"),
    [
        ("", 'Basic realm="camera"', "requires a user name and password"),
        ("user:wrong@", 'Basic realm="camera"', "rejects the user name and password"),
        ("user:sesame@", 'Basic realm="camera"', "has no such path"),
        ("user:wrong@", DIGEST, "rejects the user name and password"),
        ("user:sesame@", DIGEST, "has no such path"),
    ],
)
def test_a_camera_that_wants_a_password_is_told_in_words(login: str, challenge: str, words: str) -> None:
    right = "Basic " + base64.b64encode(b"user:sesame").decode()
    with locked_camera(challenge, lambda said: said == right or digest_is_right(said)) as address:
        finding = explain_failure(f"http://{login}{address}/live")
    assert finding is not None
    assert words in finding.figure
    assert "sesame" not in str(finding)


def test_a_network_camera_without_anybody_there_is_told_so() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        finding = explain_failure(f"rtsp://user:sesame@127.0.0.1:{bound.getsockname()[1]}/live")
    assert finding is not None
    assert "nothing listens" in finding.figure
    assert "sesame" not in str(finding)


@pytest.mark.parametrize("text", ["0", "/dev/video0", "video.mp4", "http://[", "srt://camera:1"])
def test_other_sources_are_not_asked(text: str) -> None:
    assert explain_failure(text) is None
