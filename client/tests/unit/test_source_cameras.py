"""The cameras of a machine are listed. Where tests run there is none, so what the system says of one is made up."""

import struct
import sys
from pathlib import Path

import pytest

from onlooker_client.errors import SourceError
from onlooker_client.sources import cameras, open_source
from onlooker_client.sources.cameras import LocalCamera, list_cameras

CAPTURE, METADATA, ENCODER, HAS_OWN = 0x1, 0x800000, 0x4000, 0x80000000


def capability(of_all: int, of_this: int) -> bytes:
    """As the driver answers VIDIOC_QUERYCAP."""
    return struct.pack("=16s32s32sIII12x", b"uvcvideo", b"A camera", b"usb-1", 6, of_all, of_this)


@pytest.mark.parametrize(
    ("of_all", "of_this", "is_camera"),
    [
        (HAS_OWN | CAPTURE | METADATA, CAPTURE, True),
        (HAS_OWN | CAPTURE | METADATA, METADATA, False),
        (HAS_OWN | CAPTURE | ENCODER, CAPTURE | ENCODER, False),
        (CAPTURE, 0, True),
        (HAS_OWN | 0x1000, 0x1000, True),
    ],
)
def test_a_device_is_a_camera_where_it_captures_and_does_not_convert(
    of_all: int, of_this: int, is_camera: bool
) -> None:
    assert cameras._captures(capability(of_all, of_this)) is is_camera


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists its cameras so")
def test_cameras_are_listed_by_number_with_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in ((10, "Desk"), (2, "Door\n"), (0, "")):
        folder = tmp_path / f"video{number}"
        folder.mkdir()
        (folder / "name").write_text(name)
    (tmp_path / "v4l-touch0").mkdir()
    monkeypatch.setattr(cameras, "_gives_pictures", lambda device: device.name != "video10")
    assert list_cameras(tmp_path) == [LocalCamera(0, "camera"), LocalCamera(2, "Door")]
    assert list_cameras(tmp_path)[1].path == "/dev/video2"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists its cameras so")
def test_a_camera_that_this_user_may_not_open_is_listed_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "video0").mkdir()

    def refuse(device: Path) -> bool:
        raise PermissionError(device)

    monkeypatch.setattr(cameras, "_gives_pictures", refuse)
    assert list_cameras(tmp_path) == [LocalCamera(0, "camera", is_allowed=False)]


def test_a_device_that_is_no_camera_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "video0").mkdir()
    assert list_cameras(tmp_path, devices=tmp_path) == []


def test_where_the_system_lists_none_there_is_none(tmp_path: Path) -> None:
    assert list_cameras(tmp_path / "nothing") == []


@pytest.mark.skipif(bool(list_cameras()), reason="this machine has cameras")
def test_a_camera_that_is_not_there_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SourceError, match=r"There is no camera 7. Plug one in"):
        open_source("usb:7")
    assert capfd.readouterr().err == ""


def test_the_remedy_names_the_cameras_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from onlooker_client.sources import cameras

    monkeypatch.setattr(cameras, "list_cameras", lambda: [LocalCamera(2, "Door")])
    with pytest.raises(SourceError, match=r"Camera 7 can't be opened. Available: 2 \(Door\)"):
        open_source("7")
    monkeypatch.setattr(cameras, "list_cameras", lambda: [LocalCamera(7, "Door", is_allowed=False)])
    with pytest.raises(SourceError, match="usermod -aG video"):
        open_source("7")
