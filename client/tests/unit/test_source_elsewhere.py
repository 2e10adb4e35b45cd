"""A camera that sends its viewers to another host, or to a file: nobody goes there, and the reason is told."""

import os
import sys
from pathlib import Path
from typing import Callable

import pytest
from hostile_camera import (
    ELSEWHERE,
    Handler,
    RtspAnswer,
    bystander,
    description,
    http_answer,
    listening,
    rtsp_answers,
)

from onlooker_client.errors import SourceError
from onlooker_client.sources import open_source
from onlooker_client.sources.kinds import SCHEMES
from onlooker_client.sources.network_options import OPTIONS, VARIABLE, options_text, require_obedience

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason=f"{ELSEWHERE} is this machine on Linux only"
)
HLS = "Content-Type: application/vnd.apple.mpegurl"
SDP = "Content-Type: application/sdp"


def playlist(address: str) -> str:
    return f"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{address}\n#EXT-X-ENDLIST\n"


def moved(there: str) -> RtspAnswer:
    return RtspAnswer("302 Moved", (f"Location: rtsp://{there}/x",))


def described(there: str) -> dict[str, RtspAnswer]:
    return {"DESCRIBE": RtspAnswer(headers=(SDP,), body=description(there, control="track"))}


WAYS_OF_HTTP: dict[str, Callable[[str], Handler]] = {
    "redirect": lambda there: http_answer("302 Found", f"Location: http://{there}/v.mjpg"),
    "redirect for good": lambda there: http_answer("308 Moved", f"location: http://{there}/v.mjpg"),
    "redirect to RTSP": lambda there: http_answer("302 Found", f"Location: rtsp://{there}/x"),
    "redirect to TCP": lambda there: http_answer("302 Found", f"Location: tcp://{there}"),
    "HLS": lambda there: http_answer("200 OK", HLS, body=playlist(f"http://{there}/x.ts")),
    "HLS without its type": lambda there: http_answer("200 OK", body=playlist(f"http://{there}/x.ts")),
    "HLS over TCP": lambda there: http_answer("200 OK", HLS, body=playlist(f"tcp://{there}")),
    "list of files": lambda there: http_answer("200 OK", body=f"ffconcat version 1.0\nfile http://{there}/x.ts\n"),
    "description": lambda there: http_answer(
        "200 OK", SDP, body=description(ELSEWHERE, port=int(there.rpartition(":")[2]))
    ),
    "description of RTSP": lambda there: http_answer(
        "200 OK", SDP, body=description(ELSEWHERE, control=f"rtsp://{there}/track")
    ),
}
WAYS_OF_RTSP: dict[str, Callable[[str], Handler]] = {
    "first answer": lambda there: rtsp_answers({"OPTIONS": moved(there)}),
    "instead of a description": lambda there: rtsp_answers({"DESCRIBE": moved(there)}),
    "instead of a track": lambda there: rtsp_answers({**described("0.0.0.0"), "SETUP": moved(there)}),
    "instead of playing": lambda there: rtsp_answers({**described("0.0.0.0"), **SET_UP, "PLAY": moved(there)}),
    "UDP from another host": lambda there: rtsp_answers(
        {**described(ELSEWHERE), "SETUP": RtspAnswer(headers=("Session: 1", f"Transport: {_from_elsewhere(there)}"))}
    ),
}
SET_UP = {"SETUP": RtspAnswer(headers=("Session: 1", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"))}


def _from_elsewhere(there: str) -> str:
    port = int(there.rpartition(":")[2])
    return f"RTP/AVP;unicast;client_port=5000-5001;server_port={port}-{port + 1};source={ELSEWHERE}"


def refusal(scheme: str, handler: Handler) -> str:
    with listening(handler) as port, pytest.raises(SourceError) as told:
        open_source(f"{scheme}://viewer:watch-me@127.0.0.1:{port}/video")
    assert "watch-me" not in str(told.value)
    return str(told.value)


@pytest.mark.parametrize("way", WAYS_OF_HTTP)
def test_http_leads_nobody_elsewhere(way: str) -> None:
    with bystander() as other:
        refusal("http", WAYS_OF_HTTP[way](other.address))
        assert not other.was_contacted()


@pytest.mark.parametrize("way", WAYS_OF_RTSP)
def test_rtsp_leads_nobody_elsewhere(way: str) -> None:
    with bystander() as other:
        refusal("rtsp", WAYS_OF_RTSP[way](other.address))
        assert not other.was_contacted()


def test_the_bystander_would_notice() -> None:
    with bystander() as other:
        _, _, port = other.address.rpartition(":")
        with pytest.raises(SourceError):
            open_source(f"http://{ELSEWHERE}:{port}/video")
        assert other.was_contacted()


@pytest.mark.parametrize("scheme", ["file", "concat", "crypto+file"])
@pytest.mark.parametrize("kind", ["redirect", "HLS", "list"])
def test_no_file_of_the_device_is_shown(tmp_path: Path, scheme: str, kind: str, film: Path) -> None:
    address = {"file": f"file://{film}", "concat": f"concat:{film}", "crypto+file": f"crypto+file://{film}"}[scheme]
    answers = {
        "redirect": http_answer("302 Found", f"Location: {address}"),
        "HLS": http_answer("200 OK", HLS, body=playlist(address)),
        "list": http_answer("200 OK", body=f"ffconcat version 1.0\nfile '{address}'\n"),
    }
    refusal("http", answers[kind])


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film that can be shown, so that a refusal is not for its content."""
    import cv2
    import numpy as np

    path = tmp_path_factory.mktemp("films") / "secret.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, (320, 240))
    for shade in range(20):
        writer.write(np.full((240, 320, 3), shade * 10, np.uint8))
    writer.release()
    assert open_source(str(path)).read(0) is not None
    return path


def test_a_redirect_is_told_with_the_address_to_use() -> None:
    with bystander() as other:
        for scheme, handler in (
            ("http", http_answer("302 Found", f"Location: http://a:secret@{other.address}/v.mjpg?token=1")),
            ("rtsp", rtsp_answers({"DESCRIBE": RtspAnswer("301 Moved", (f"Location: rtsp://{other.address}/v",))})),
        ):
            told = refusal(scheme, handler)
            assert f"use {scheme}://{other.address}/v" in told
            assert "secret" not in told
            assert "token" not in told


def test_a_playlist_is_told_with_what_to_use() -> None:
    assert "Use the camera's address for RTSP or MJPEG" in refusal(
        "http", http_answer("200 OK", HLS, body=playlist("/"))
    )


def test_every_address_has_its_protocols() -> None:
    assert set(OPTIONS) == set(SCHEMES)
    for scheme in SCHEMES:
        allowed = set(OPTIONS[scheme]["protocol_whitelist"].split(","))
        assert not allowed & {"file", "crypto", "concat", "data", "pipe", "fd", "subfile", "hls", "rtsp"}


def test_what_somebody_set_themselves_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    text = options_text("rtsp", "rtsp_transport;udp|timeout;1")
    assert text.startswith("rtsp_transport;udp|timeout;1|")
    assert text.count("rtsp_transport") == 1
    assert "protocol_whitelist;tcp,udp,rtp" in text
    monkeypatch.setenv(VARIABLE, "timeout;1")
    with pytest.raises(SourceError):
        open_source("rtsp://127.0.0.1:9/camera")
    assert os.environ[VARIABLE] == "timeout;1"


class OldOpenCv:
    """Says of its FFmpeg what OpenCV says of it."""

    def getBuildInformation(self) -> str:
        return "    FFMPEG:                      YES\n      avformat:                   YES (61.7.100)\n"


def test_an_ffmpeg_that_follows_redirects_is_refused_with_the_remedy() -> None:
    for scheme in ("rtsp", "rtsps", "http", "https"):
        with pytest.raises(SourceError, match="pip install --upgrade"):
            require_obedience(OldOpenCv(), scheme)
    require_obedience(OldOpenCv(), "srt")
