"""The directory: which services there are, and whether their workers are live."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from onlooker.catalogue.service import Service
from onlooker.errors import not_found
from onlooker.gateway.answers import json_answer
from onlooker.gateway.parts import Parts, parts_of, service_of, service_path


async def list_services(request: Request) -> Response:
    names = parts_of(request).catalogue
    return json_answer({"services": {name: {"url": f"/services/{name}"} for name in names}})


async def show_service(request: Request) -> Response:
    versions = parts_of(request).catalogue.get(request.path_params["name"])
    if versions is None:
        raise not_found("service")
    return json_answer({"versions": {str(number): {"url": service_path(s)} for number, s in versions.items()}})


async def show_version(request: Request) -> Response:
    return json_answer(describe_version(parts_of(request), service_of(request)))


def describe_version(parts: Parts, service: Service) -> dict[str, Any]:
    url = parts.url(service_path(service))
    workers = parts.workers.count(service)
    return {
        "url": url,
        "version": service.version,
        "description": service.description,
        "jobs": f"{url}/jobs",
        "streams": f"{url}/streams",
        "live": workers > 0,
        "workers": workers,
    }
