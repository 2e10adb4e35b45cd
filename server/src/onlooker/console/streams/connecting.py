"""How a camera is connected: the exact line that sends one picture."""

import json
import shlex

from django.conf import settings
from django.urls import reverse

from onlooker.streams.models import Stream

UNKNOWN_TOKEN = "<ACCESS_TOKEN>"  # noqa: S105
PICTURE = "picture.jpg"


def curl_line(stream: Stream, access_token: str = UNKNOWN_TOKEN) -> str:
    """For a shell of Linux or macOS, in a folder with a picture and, where one is needed, the authority."""
    meta = json.dumps({"image": "attachment://picture", "async": False})
    options = {
        "--cacert": [authority_path().lstrip("/")] if settings.ONLOOKER.authority_file else [],
        "--user": [f"{stream.client_id}:{access_token}"],
        "--form": [f"meta={meta};type=application/json", f"attachment://picture=@{PICTURE}"],
    }
    lines = [shlex.join([option, value]) for option, values in options.items() for value in values]
    return " \\\n  ".join(["curl", *lines, f"{settings.ONLOOKER.public_url}/services/scene_analysis/1/jobs"])


def authority_path() -> str:
    return reverse("authority")


def connection_context(stream: Stream, access_token: str = UNKNOWN_TOKEN) -> dict[str, object]:
    """What the panel shows."""
    return {
        "stream": stream,
        "input_url": settings.ONLOOKER.public_url,
        "curl_line": curl_line(stream, access_token),
        "picture": PICTURE,
        "has_authority": bool(settings.ONLOOKER.authority_file),
    }
