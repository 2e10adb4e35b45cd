"""Addresses of the management interface: those of the table of operations, its document and its reference."""

import re

from django.conf import settings
from django.urls import URLPattern, path, re_path

from onlooker.console.api.openapi import show_api_document
from onlooker.console.api.operation import Operation
from onlooker.console.api.operations import OPERATIONS
from onlooker.console.api.rate_limit import KeyLimit
from onlooker.console.api.reference import show_reference
from onlooker.console.api.views import make_view, show_unknown


def route_name(operation_path: str) -> str:
    """Such as `api-streams-client-id`: what the log says in place of an address."""
    return "api-" + re.sub(r"<\w+:(\w+)>", r"\1", operation_path).replace("/", "-").replace("_", "-")


def make_routes(limit: KeyLimit) -> list[URLPattern]:
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    return [path(route, make_view(methods, limit), name=route_name(route)) for route, methods in by_path.items()]


urlpatterns = [
    path("", show_reference, name="api-reference"),
    path("openapi.json", show_api_document, name="api-openapi"),
    *make_routes(KeyLimit(per_minute=settings.ONLOOKER.api_requests_per_minute)),
    re_path(r"[\s\S]", show_unknown, name="api-unknown"),
]
