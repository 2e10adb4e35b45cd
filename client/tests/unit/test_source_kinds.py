"""What a text means as a source, and how it is named without its secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker_client.errors import SourceError
from onlooker_client.sources import describe
from onlooker_client.sources.kinds import SourceKind, camera_device, recognise


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0", SourceKind.CAMERA),
        ("usb:1", SourceKind.CAMERA),
        ("/dev/video2", SourceKind.CAMERA),
        ("/dev/v4l/by-id/usb-Maker_Camera-video-index0", SourceKind.CAMERA),
        ("rtsp://camera/1", SourceKind.NETWORK),
        ("RTSP://camera/1", SourceKind.NETWORK),
        ("https://camera/video.mjpg", SourceKind.NETWORK),
        ("-", SourceKind.PIPE),
        (" 0 ", SourceKind.CAMERA),
        ("film.mp4", SourceKind.VIDEO),
        ("2024.mp4", SourceKind.VIDEO),
    ],
)
def test_a_text_means_a_kind_of_source(text: str, kind: SourceKind) -> None:
    assert recognise(text) is kind


def test_a_folder_is_recognised(tmp_path: Path) -> None:
    assert recognise(str(tmp_path)) is SourceKind.FOLDER


def test_an_address_of_another_kind_is_refused_with_what_a_source_is() -> None:
    with pytest.raises(SourceError, match=r"ftp://.*A source is"):
        recognise("ftp://camera/1")


@pytest.mark.parametrize(("text", "device"), [("3", 3), ("usb:3", 3), ("/dev/video3", 3), ("/dev/cam", "/dev/cam")])
def test_a_camera_has_a_number_or_a_path(text: str, device: int | str) -> None:
    assert camera_device(text) == device


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rtsp://camera:554/stream1", "rtsp://camera:554/stream1"),
        ("rtsp://[fe80::1]:554/stream1", "rtsp://[fe80::1]:554/stream1"),
        ("0", "camera 0"),
        ("/dev/video0", "camera 0"),
        ("-", "standard input"),
        ("film.mp4", "film.mp4"),
    ],
)
def test_a_name_says_which_source_it_is(text: str, name: str) -> None:
    assert describe(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "rtsp://admin:hush@camera/1",
        "rtsp://admin:hush@hush@camera/1",
        "rtsp://admin:/hush@camera/1",
        "rtsp://admin:x?hush@camera/1",
        "rtsp://admin:x#hush@camera/1",
        "rtsp://admin:x@y/hush@camera/1",
        "rtsp://camera/1?user=admin&password=hush",
        "rtsp://camera/1?password=a@hush",
        "rtsp://camera/user=admin_password=hush_channel=1.sdp",
        "rtsp://camera/user=admin&password=hush&channel=1/live",
        "http://camera/video.cgi#hush",
    ],
)
def test_a_name_never_holds_a_password(text: str) -> None:
    assert "hush" not in describe(text)
    assert describe(text).startswith(text[:7])
