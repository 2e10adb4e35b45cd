"""The options of the local feed."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from onlooker_client.command.options import whole
from onlooker_client.errors import ConfigError

SHORTEST_TOKEN = 16
LARGEST_TOKEN_FILE_BYTES = 4096
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class FeedOptions:
    """Where the feed listens, and who may read it; checked."""

    port: int
    host: str = "127.0.0.1"
    origins: tuple[str, ...] = ()
    token: str | None = field(default=None, repr=False)
    tells_singly: bool = False
    """Age and gender also where the stream tells them of groups alone."""


def add_feed_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("local feed")
    group.add_argument(
        "--feed-port", type=whole(1, 65535), metavar="N", help="say at http://127.0.0.1:N/now who is in view"
    )
    group.add_argument(
        "--feed-origin",
        action="append",
        default=[],
        type=read_origin,
        metavar="URL",
        help="pages of this origin may read the feed; may be given several times",
    )
    group.add_argument(
        "--feed-token-file", type=Path, metavar="FILE", help="anyone who sends the token in this file may read it too"
    )
    group.add_argument(
        "--feed-attributes",
        action="store_true",
        help="tell age and gender of each person also where the stream tells them of groups alone",
    )
    group.add_argument(
        "--feed-host", default="127.0.0.1", metavar="ADDRESS", help="another address to listen on; needs a token"
    )


def read_feed_options(arguments: argparse.Namespace) -> FeedOptions | None:
    """None without `--feed-port`; raises ConfigError."""
    if arguments.feed_port is None:
        if arguments.feed_origin or arguments.feed_token_file or arguments.feed_attributes:
            raise ConfigError("--feed-origin, --feed-token-file and --feed-attributes need --feed-port.")
        return None
    try:
        is_local = ip_address(arguments.feed_host).is_loopback
    except ValueError:
        raise ConfigError(f"--feed-host {arguments.feed_host}: that is not an address such as 127.0.0.1.") from None
    token = None if arguments.feed_token_file is None else read_token(arguments.feed_token_file)
    if not is_local and token is None:
        raise ConfigError(
            f"--feed-host {arguments.feed_host} is not this machine alone: others on the network need a token. "
            "Name a file that contains one with --feed-token-file."
        )
    origins = tuple(dict.fromkeys(arguments.feed_origin))
    return FeedOptions(arguments.feed_port, arguments.feed_host, origins, token, arguments.feed_attributes)


def read_origin(text: str) -> str:
    """A type of argparse: an origin as browsers write it."""
    parts = urlsplit(text.strip())
    try:
        port = parts.port
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} has no port that could be one") from None
    if (
        parts.scheme not in DEFAULT_PORTS
        or not parts.hostname
        or parts.path.strip("/")
        or parts.query
        or parts.username
    ):
        raise argparse.ArgumentTypeError(f"{text!r} is not an origin such as https://signage.example.org")
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}" + (f":{port}" if port not in (None, DEFAULT_PORTS[parts.scheme]) else "")


def read_token(path: Path) -> str:
    """Raises ConfigError, without the content."""
    try:
        with path.open(encoding="ascii") as file:
            token = file.read(LARGEST_TOKEN_FILE_BYTES).strip()
    except OSError as error:
        raise ConfigError(f"--feed-token-file {path} can't be read: {error.strerror}.") from None
    except ValueError:
        raise ConfigError(f"--feed-token-file {path} is not a text file.") from None
    if len(token) < SHORTEST_TOKEN or not _TOKEN.fullmatch(token):
        raise ConfigError(
            f"--feed-token-file {path} must contain at least {SHORTEST_TOKEN} letters and digits on one line. "
            f"Make one with: openssl rand -hex 16 > {path}"
        )
    return token
