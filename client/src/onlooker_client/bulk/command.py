"""`onlooker-agent analyse`: its options."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from onlooker_client.command.options import add_picture_options, add_server_options
from onlooker_client.device.compute_options import DEVICE, SERVER
from onlooker_client.errors import BadArgument

SUMMARY = "Send a recorded video as fast as the server takes it, and show its numbers."
_CAMERA = re.compile(r"\d{1,3}$|usb:|/dev/video|(rtsps?|https?):/", re.IGNORECASE)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("video", metavar="VIDEO", type=Path, help="a video file")
    _add_time_options(parser)
    add_picture_options(parser)
    group = parser.add_argument_group("sending")
    group.add_argument(
        "--patience",
        metavar="MINUTES",
        type=_positive,
        default=10.0,
        help="how long to wait for a server that does not answer (default: %(default)g)",
    )
    group.add_argument(
        "--compute",
        choices=[DEVICE, SERVER],
        default=SERVER,
        help="where frames are computed; device: here, and only visits are sent (default: %(default)s)",
    )
    group.add_argument(
        "--confinement", choices=["on", "off"], default="on", help="off: compute here even where Linux can't confine it"
    )
    group.add_argument("--add", action="store_true", help="continue even if the stream already has people at that time")
    group = parser.add_argument_group("output")
    group.add_argument("--show", action="store_true", help="show what is found in a window")
    group.add_argument("--save", metavar="FILE.mp4", type=Path, help="write what is found into a video")
    group.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    group.add_argument(
        "--username", metavar="E-MAIL", help="an account that sees the stream, for the summary (or ONLOOKER_USERNAME)"
    )
    add_server_options(parser)


def run(arguments: argparse.Namespace) -> int:
    video = str(arguments.video)
    if not arguments.video.exists() and _CAMERA.match(video):
        source = "SOURCE" if "/" in video and not video.startswith("/dev/") else video
        raise BadArgument(f"analyse takes a recorded video. For a camera: onlooker-agent run {source}")
    from onlooker_client.bulk.analysis import analyse  # needs OpenCV

    return analyse(arguments)


def _add_time_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("when it was filmed")
    when = group.add_mutually_exclusive_group()
    when.add_argument("--start", metavar="MOMENT", help="when it begins, such as 2026-11-01T09:00+01:00")
    when.add_argument("--end", metavar="MOMENT", help="when it ends, in place of --start")
    group.add_argument(
        "--from",
        metavar="POSITION",
        dest="from_s",
        type=_position,
        default=0.0,
        help="start here in the video, such as 1:02:30, because the part before was already sent",
    )


def _position(text: str) -> float:
    from onlooker_client.bulk.plan import read_seconds

    try:
        return read_seconds(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a position such as 90, 1:30 or 1:02:30") from None


def _positive(text: str) -> float:
    if not 0 <= float(text) < float("inf"):
        raise argparse.ArgumentTypeError("give a number of 0 or more")
    return float(text)
