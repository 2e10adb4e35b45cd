"""How a camera is connected: the commands that start an agent, the one that sends a picture, and the certificate."""

import hashlib
import json
import logging
import shlex
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from onlooker.console.agent.wheels import COMPUTING, SENDING, find_parts
from onlooker.logs import fields
from onlooker.streams.models import ComputePlace, Stream

log = logging.getLogger(__name__)

DEBIAN_PACKAGES = "curl python3-venv"
UNKNOWN_TOKEN = "<ACCESS_TOKEN>"  # noqa: S105
PICTURE = "picture.jpg"
RUN_LINE = "onlooker-agent run"


def connection_context(stream: Stream, access_token: str = UNKNOWN_TOKEN) -> dict[str, object]:
    """What the panel shows."""
    computes = stream.compute == ComputePlace.DEVICE
    installation, script = (COMPUTING, "agent-device-script") if computes else (SENDING, "agent-script")
    return {
        "stream": stream,
        "input_url": settings.ONLOOKER.public_url,
        "computes_on_device": computes,
        "debian_packages": f"{DEBIAN_PACKAGES} libseccomp2" if computes else DEBIAN_PACKAGES,
        "oldest_python": f"3.{installation.oldest_minor}",
        "install_line": install_line(script) if find_parts(settings.ONLOOKER, installation) else "",
        "script_url": reverse(script),
        "setup_line": setup_line(stream),
        "run_line": RUN_LINE,
        "curl_line": curl_line(stream, access_token),
        "picture": PICTURE,
        "has_authority": bool(settings.ONLOOKER.authority_file),
    }


def install_line(script_name: str = "agent-script") -> str:
    """Where the console has an authority of its own, its certificate is fetched first, and must be the one known here.

    `--insecure` holds for that one file: a wrong one ends the line, and the script comes from who has the right one.
    """
    script = settings.ONLOOKER.console_url + reverse(script_name)
    authority = read_authority()
    if not authority:
        return f"curl -fsS {shlex.quote(script)} | sh"
    file, url = authority_name(), settings.ONLOOKER.console_url + reverse("authority")
    return " &&\n".join(
        [
            f"curl -fsS --insecure -o {file} {shlex.quote(url)}",
            f"echo '{hashlib.sha256(authority).hexdigest()}  {file}' | sha256sum -c",
            f"curl -fsS --cacert {file} {shlex.quote(script)} | sh -s -- --ca {file}",
        ]
    )


def setup_line(stream: Stream) -> str:
    """Names the server and the stream. The agent asks for the Password, as others can read a command line."""
    options = {
        "--url": settings.ONLOOKER.public_url,
        "--client-id": str(stream.client_id),
        **({"--ca": authority_name()} if settings.ONLOOKER.authority_file else {}),
    }
    return shlex.join(["onlooker-agent", "setup", *(word for option in options.items() for word in option)])


def curl_line(stream: Stream, access_token: str = UNKNOWN_TOKEN) -> str:
    """For a shell on Linux or macOS, in a folder with a picture and, if one is needed, the certificate authority."""
    meta = json.dumps({"image": "attachment://picture", "async": False})
    options = {
        "--cacert": [authority_name()] if settings.ONLOOKER.authority_file else [],
        "--user": [f"{stream.client_id}:{access_token}"],
        "--form": [f"meta={meta};type=application/json", f"attachment://picture=@{PICTURE}"],
    }
    lines = [shlex.join([option, value]) for option, values in options.items() for value in values]
    return " \\\n  ".join(["curl", *lines, f"{settings.ONLOOKER.public_url}/services/scene_analysis/1/jobs"])


def authority_name() -> str:
    """The name that a browser saves the certificate authority as."""
    return reverse("authority").lstrip("/")


@require_safe
def show_authority(request: HttpRequest) -> HttpResponse:
    pem = read_authority()
    if not pem:
        raise Http404
    headers = {"Content-Disposition": 'attachment; filename="authority.pem"'}
    return HttpResponse(pem, content_type="application/x-pem-file", headers=headers)


def read_authority() -> bytes:
    """Only certificates, parsed and serialised again: anything else in the file stays private. Empty if none."""
    if not settings.ONLOOKER.authority_file:
        return b""
    try:
        certificates = x509.load_pem_x509_certificates(Path(settings.ONLOOKER.authority_file).read_bytes())
    except (OSError, ValueError) as error:
        log.error("authority can't be read", extra=fields(error=type(error).__name__))
        return b""
    return b"".join(one.public_bytes(Encoding.PEM) for one in certificates)
