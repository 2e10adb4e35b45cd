"""What FFmpeg may do for a network camera: the protocols that its address needs, no playlist, no redirect."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from onlooker_client.errors import SourceError

VARIABLE = "OPENCV_FFMPEG_CAPTURE_OPTIONS"
"""OpenCV has no other way in."""
_VIDEO = "mpjpeg,mjpeg,jpeg_pipe,mpegts,flv,live_flv,mov,matroska,h264,hevc,mpeg,asf,avi,ogg"
"""Formats that name no other address: no HLS, no DASH, no lists of files, no session descriptions."""
_QUICKLY = {"fpsprobesize": "0"}
"""Otherwise opening takes seconds longer, as the rate is measured, which nobody asks for. Not `nobuffer`: it throws
away what was read while opening, with the whole picture in it, and the next may come 10 s later."""
_RTSP = {"rtsp_transport": "tcp", "format_whitelist": "rtsp"}
_HTTP = {"max_redirects": "0", "format_whitelist": _VIDEO}
OPTIONS: dict[str, dict[str, str]] = {
    # Without `rtsp` among the protocols: a redirect is a new address of that protocol, and is refused.
    "rtsp": {**_RTSP, "protocol_whitelist": "tcp,udp,rtp"},
    "rtsps": {**_RTSP, "protocol_whitelist": "tls,tcp"},
    "http": {**_HTTP, "protocol_whitelist": "http,tcp"},
    "https": {**_HTTP, "protocol_whitelist": "https,tls,tcp"},
    "rtmp": {"format_whitelist": _VIDEO, "protocol_whitelist": "rtmp,tcp"},
    "rtmps": {"format_whitelist": _VIDEO, "protocol_whitelist": "rtmps,tls,tcp"},
    "srt": {"format_whitelist": _VIDEO, "protocol_whitelist": "srt"},
    "udp": {"format_whitelist": _VIDEO, "protocol_whitelist": "udp"},
    "tcp": {"format_whitelist": _VIDEO, "protocol_whitelist": "tcp"},
}
"""By the scheme of an address."""
_REDIRECTING = ("rtsp", "rtsps", "http", "https")
OBEYS_SINCE = (62, 12)
"""The libavformat of FFmpeg 8.1: earlier ones follow a camera's redirects, whatever they are told."""
_setting_options = threading.Lock()


def require_obedience(opencv: Any, scheme: str) -> None:
    """Raises SourceError where this FFmpeg would follow a camera to other hosts."""
    found = re.search(r"avformat:\s+YES \((\d+)\.(\d+)", opencv.getBuildInformation())
    if scheme not in _REDIRECTING or (found and (int(found[1]), int(found[2])) >= OBEYS_SINCE):
        return
    raise SourceError(
        "The FFmpeg of this OpenCV would follow a network camera to other hosts. Update it: "
        'pip install --upgrade "opencv-python-headless>=5". Or pipe the camera\'s pictures in: ffmpeg ... -f mjpeg - '
        "| onlooker-agent run -"
    )


def options_text(scheme: str, theirs: str = "") -> str:
    """As OpenCV reads them. What somebody set themselves stays."""
    their_names = {pair.partition(";")[0] for pair in theirs.split("|")}
    ours = [f"{name};{value}" for name, value in {**_QUICKLY, **OPTIONS[scheme]}.items() if name not in their_names]
    return "|".join([*([theirs] if theirs else []), *ours])


@contextmanager
def network_options(scheme: str) -> Iterator[None]:
    """While a network camera is opened: for files these options would be wrong."""
    with _setting_options:
        theirs = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = options_text(scheme, theirs or "")
        try:
            yield
        finally:
            if theirs is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = theirs
