"""The directory of services, and whether their workers are live."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from onlooker.errors import not_found
from onlooker.gateway.context import GatewayContext, context_of, service_of, service_path
from onlooker.http.answers import json_answer
from onlooker_pipeline.catalogue.service import Service


async def list_services(request: Request) -> Response:
    names = context_of(request).catalogue
    return json_answer({"services": {name: {"url": f"/services/{name}"} for name in names}})


async def show_service(request: Request) -> Response:
    versions = context_of(request).catalogue.get(request.path_params["name"])
    if versions is None:
        raise not_found("service")
    return json_answer({"versions": {str(number): {"url": service_path(s)} for number, s in versions.items()}})


async def show_version(request: Request) -> Response:
    return json_answer(describe_version(context_of(request), service_of(request)))


def describe_version(context: GatewayContext, service: Service) -> dict[str, Any]:
    url = context.url(service_path(service))
    workers = context.workers.count(service)
    return {
        "url": url,
        "version": service.version,
        "description": service.description,
        "jobs": f"{url}/jobs",
        "streams": f"{url}/streams",
        "live": workers > 0,
        "workers": workers,
    }
