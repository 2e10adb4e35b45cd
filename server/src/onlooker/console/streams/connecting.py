"""How a camera is connected: the exact lines that start an agent, and the one that sends a picture."""

import json
import shlex

from django.conf import settings
from django.urls import reverse

from onlooker.streams.models import Stream

UNKNOWN_TOKEN = "<ACCESS_TOKEN>"  # noqa: S105
PICTURE = "picture.jpg"
INSTALL_LINE = 'pip install "onlooker-client[camera]"'
"""Double quotes: shells of Linux, macOS and Windows all know them."""
RUN_LINE = "onlooker-agent run"


def setup_line(stream: Stream) -> str:
    """Names the server and the stream; the Password is asked for, as others can read a command line."""
    options = {
        "--url": settings.ONLOOKER.public_url,
        "--client-id": str(stream.client_id),
        **({"--ca": authority_name()} if settings.ONLOOKER.authority_file else {}),
    }
    return shlex.join(["onlooker-agent", "setup", *(word for option in options.items() for word in option)])


def curl_line(stream: Stream, access_token: str = UNKNOWN_TOKEN) -> str:
    """For a shell of Linux or macOS, in a folder with a picture and, where one is needed, the authority."""
    meta = json.dumps({"image": "attachment://picture", "async": False})
    options = {
        "--cacert": [authority_name()] if settings.ONLOOKER.authority_file else [],
        "--user": [f"{stream.client_id}:{access_token}"],
        "--form": [f"meta={meta};type=application/json", f"attachment://picture=@{PICTURE}"],
    }
    lines = [shlex.join([option, value]) for option, values in options.items() for value in values]
    return " \\\n  ".join(["curl", *lines, f"{settings.ONLOOKER.public_url}/services/scene_analysis/1/jobs"])


def authority_name() -> str:
    """What a browser saves it as."""
    return reverse("authority").lstrip("/")


def connection_context(stream: Stream, access_token: str = UNKNOWN_TOKEN) -> dict[str, object]:
    """What the panel shows."""
    return {
        "stream": stream,
        "input_url": settings.ONLOOKER.public_url,
        "install_line": INSTALL_LINE,
        "setup_line": setup_line(stream),
        "run_line": RUN_LINE,
        "curl_line": curl_line(stream, access_token),
        "picture": PICTURE,
        "has_authority": bool(settings.ONLOOKER.authority_file),
    }
