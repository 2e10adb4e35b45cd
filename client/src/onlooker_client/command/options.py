"""Options that several commands share: the server, pictures, and numbers within limits."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Callable

from onlooker_client.config import Config, load_config


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Where the server is and who asks. The Password has no option: others can read a command line."""
    group = parser.add_argument_group("server")
    group.add_argument("--config", metavar="FILE", type=Path, help="the file that setup wrote (or ONLOOKER_CONFIG)")
    group.add_argument("--url", help="the server's address, such as https://vision.example.org (or ONLOOKER_URL)")
    group.add_argument("--client-id", metavar="LOGIN", help="the stream's Login (or ONLOOKER_CLIENT_ID)")
    group.add_argument(
        "--ca", metavar="FILE", dest="ca_file", help="certificate authority to trust (or ONLOOKER_CA_FILE)"
    )


def read_config(arguments: argparse.Namespace) -> Config:
    """From the options, the environment and the file."""
    names = ("url", "client_id", "ca_file", "username", "source")
    given = Config(**{name: getattr(arguments, name, None) for name in names})
    return load_config(given, arguments.config)


def add_picture_options(
    parser: argparse.ArgumentParser, *, fps: float | None = 10.0, fps_said: str = "10"
) -> argparse._ArgumentGroup:
    """The group, for callers that add more options to it; `fps_said` is the default in words."""
    group = parser.add_argument_group("pictures")
    group.add_argument("--fps", type=number(0.1, 60), default=fps, metavar="N", help=f"frames a second ({fps_said})")
    group.add_argument("--width", type=whole(16, 7680), default=640, metavar="PX", help="maximum width (640)")
    group.add_argument("--height", type=whole(16, 4320), default=480, metavar="PX", help="maximum height (480)")
    group.add_argument("--quality", type=whole(1, 100), default=80, metavar="N", help="of the JPEG, 1 to 100 (80)")
    group.add_argument("--color", action="store_true", help="send colour; the server does not use it")
    group.add_argument(
        "--camera-position", choices=["facing", "ceiling"], default="facing", help="where the camera is (facing)"
    )
    return group


def number(least: float, most: float) -> Callable[[str], float]:
    """A type of argparse: a number within limits."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"it must be between {least:g} and {most:g}")
        return value

    return read


def whole(least: int, most: int) -> Callable[[str], int]:
    """A type of argparse: a whole number within limits."""

    def read(text: str) -> int:
        value = number(least, most)(text)
        if value != int(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
        return int(value)

    return read
