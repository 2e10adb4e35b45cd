"""Serves the site that `just docs-site` built; without one, a page says how to build it."""

from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from onlooker.console.web.security import page_headers

DOCUMENTATION_PATH = "/docs/"
SITE = Path(__file__).with_name("site")
"""The server's wheel contains it."""
BUILT_BY = "just docs-site"


class SiteFiles(StaticFiles):
    """Pages under the policy of the console's own; browsers revalidate their copies."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(page_headers() | {"Cache-Control": "no-cache"})
        return response


def site_routes(site: Path) -> list[Mount]:
    """None if it was not built: Django's route is then the one that answers."""
    if not (site / "index.html").is_file():
        return []
    files = GZipMiddleware(SiteFiles(directory=site, html=True), compresslevel=6)
    return [Mount(DOCUMENTATION_PATH.rstrip("/"), files)]


@require_safe
def show_missing_site(request: HttpRequest, page: str = "") -> HttpResponse:
    return render(request, "documentation/missing.html", {"built_by": BUILT_BY}, status=404)
