"""The script that installs the agent, the pins of its dependencies, and the index of packages: open to everyone."""

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from packaging.utils import canonicalize_name
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from onlooker.console.agent.wheels import (
    OWN_FOLDER,
    AgentInstallation,
    Wheel,
    find_parts,
    find_wheels,
)
from onlooker.settings import Settings

SCRIPT = Path(__file__).with_name("install.sh")
FILES_PATH = "/agent/packages/"
PLAIN_TEXT = "text/plain; charset=utf-8"
REVALIDATED = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
"""A file of a development version changes under its name."""


@require_safe
def show_script(request: HttpRequest, installation: AgentInstallation) -> HttpResponse:
    parts = find_parts(settings.ONLOOKER, installation)
    if not parts:
        return _missing(installation.remedy)
    script = render_script(settings.ONLOOKER, installation, parts)
    return HttpResponse(script, content_type=PLAIN_TEXT, headers=REVALIDATED)


def render_script(of: Settings, installation: AgentInstallation, parts: Sequence[Wheel]) -> str:
    """With this console's values, each quoted for the shell."""
    values = {
        "CONSOLE_URL": of.console_url,
        "SERVER_URL": of.public_url,
        "AGENT": ";".join(part.requirement for part in parts),
        "REQUIREMENTS": installation.requirements,
        "OLDEST_MINOR": str(installation.oldest_minor),
        "MEGABYTES": str(installation.megabytes),
        "DEPENDENCIES_FROM": "console" if of.agent_packages else "public",
    }
    return re.sub(r"@([A-Z_]+)@", lambda mark: shlex.quote(values[mark[1]]), SCRIPT.read_text(encoding="utf-8"))


@require_safe
def show_requirements(request: HttpRequest, installation: AgentInstallation) -> HttpResponse:
    """The dependencies of the agent, each version with its checksums."""
    if not find_parts(settings.ONLOOKER, installation):
        return _missing(installation.remedy)
    pins = (OWN_FOLDER / installation.requirements).read_bytes()
    return HttpResponse(pins, content_type=PLAIN_TEXT, headers=REVALIDATED)


@require_safe
def list_projects(request: HttpRequest) -> HttpResponse:
    """The index of PEP 503."""
    projects = sorted({wheel.project for wheel in find_wheels(settings.ONLOOKER).values()})
    return _list_links((reverse("agent-project", args=[project]), project) for project in projects)


@require_safe
def list_files(request: HttpRequest, project: str) -> HttpResponse:
    """The files of one project, each with its checksum."""
    wanted = canonicalize_name(project)
    found = [wheel for wheel in find_wheels(settings.ONLOOKER).values() if wheel.project == wanted]
    if not found:
        return _missing(f"This index has no {wanted}. {reverse('agent-index')} lists what it has.")
    return _list_links((f"{FILES_PATH}{quote(one.path.name)}#sha256={one.sha256}", one.path.name) for one in found)


async def send_wheel(request: Request) -> Response:
    """Outside Django, which would hold one of the console's few slots for as long as a slow device downloads."""
    wheel = find_wheels(settings.ONLOOKER).get(request.path_params["name"])
    if wheel is None:
        return PlainTextResponse("There is no such file.\n", status_code=404)
    return FileResponse(wheel.path, media_type="application/octet-stream", headers=REVALIDATED)


def _list_links(links: Iterable[tuple[str, str]]) -> HttpResponse:
    items: SafeString = format_html_join("\n", '<a href="{}">{}</a><br>', links)
    page = format_html("<!DOCTYPE html>\n<title>Packages of the agent</title>\n{}\n", items)
    return HttpResponse(page, headers=REVALIDATED)


def _missing(text: str) -> HttpResponse:
    return HttpResponseNotFound(f"{text}\n", content_type=PLAIN_TEXT)
