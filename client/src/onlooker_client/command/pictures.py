"""What is sent of each picture, as options."""

from __future__ import annotations

import argparse

from onlooker_client.command.limits import number, whole


def add_picture_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The group, for whoever has more of them."""
    group = parser.add_argument_group("pictures")
    group.add_argument("--fps", type=number(0.1, 60), default=10.0, metavar="N", help="frames a second (10)")
    group.add_argument("--width", type=whole(16, 7680), default=640, metavar="PX", help="at most so wide (640)")
    group.add_argument("--height", type=whole(16, 4320), default=480, metavar="PX", help="at most so high (480)")
    group.add_argument("--quality", type=whole(1, 100), default=80, metavar="N", help="of the JPEG, 1 to 100 (80)")
    group.add_argument("--color", action="store_true", help="send colours; the server reads none")
    group.add_argument(
        "--camera-position", choices=["facing", "ceiling"], default="facing", help="where the camera is (facing)"
    )
    return group
