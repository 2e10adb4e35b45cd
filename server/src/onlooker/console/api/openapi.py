"""`GET /api/v1/openapi.json`: the table of operations as an OpenAPI document."""

from collections.abc import Iterator
from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from onlooker.console.api.idempotent_requests import HEADER, LONGEST_KEY
from onlooker.console.api.operation import Nothing, Operation, Reach
from onlooker.console.api.operations import CHAPTERS, OPERATIONS
from onlooker.console.tokens import json_views
from onlooker.console.tokens.json_views import json_view
from onlooker.errors import KINDS, Code
from onlooker.http.openapi import (
    Schema,
    describe_api,
    header_schema,
    json_content,
    json_response_schema,
    problem_response_schema,
)

TEMPLATE = "#/components/schemas/{name}"
KINDS_IN_PATHS: dict[str, Schema] = {
    "uuid": {"type": "string", "format": "uuid"},
    "int": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
}
SECURITY: Schema = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key of an organisation, onl_..., which owners and managers create on its page.",
    }
}
REFUSALS = (
    *(Code.BAD_REQUEST, Code.INVALID_KEY, Code.MISSING_SCOPE, Code.METHOD_NOT_ALLOWED, Code.REQUEST_TIMEOUT),
    *(Code.TOO_LARGE, Code.OVERLOADED),
)
"""What any request may be refused with."""


@json_view("GET", "HEAD")
def show_api_document(request: HttpRequest) -> HttpResponse:
    return json_views.json_response(describe_operations(), Cache_Control="public, max-age=60")


def describe_operations() -> Schema:
    schemas = _Schemas()
    paths: Schema = {}
    for chapter, operations in CHAPTERS.items():
        for operation in operations:
            paths.setdefault(operation.url, {})[operation.method.lower()] = _describe(operation, chapter, schemas)
    return describe_api(
        "Onlooker management interface",
        settings.ONLOOKER.console_url,
        paths=paths,
        schemas=schemas.components,
        security=SECURITY,
    )


class _Schemas:
    """Those of all structs, under names that OpenAPI allows."""

    def __init__(self) -> None:
        kinds = [kind for one in OPERATIONS for kind in (one.answer, one.body) if kind not in (None, Nothing)]
        unique = list({repr(kind): kind for kind in kinds}.values())
        schemas, components = msgspec.json.schema_components(unique, ref_template=TEMPLATE)
        self.components: Schema = {_plain_name(name): _renamed(schema) for name, schema in components.items()}
        self._by_kind = {repr(kind): _renamed(schema) for kind, schema in zip(unique, schemas, strict=True)}

    def of(self, kind: Any) -> Schema:
        found: Schema = self._by_kind[repr(kind)]
        return found


def _plain_name(name: str) -> str:
    """`Page_StreamBody_` becomes `StreamPage`, `StreamBody` becomes `Stream`."""
    inner = name.removeprefix("Page[").removeprefix("Page_").removesuffix("]").removesuffix("_")
    short = inner.removesuffix("Body")
    return f"{short}Page" if inner != name else short


def _renamed(part: Any) -> Any:
    if isinstance(part, list):
        return [_renamed(one) for one in part]
    if not isinstance(part, dict):
        return part
    beginning = TEMPLATE.removesuffix("{name}")
    return {
        key: beginning + _plain_name(value.removeprefix(beginning)) if key == "$ref" else _renamed(value)
        for key, value in part.items()
        if key != "title" or isinstance(value, dict)
    }


def _describe(operation: Operation, chapter: str, schemas: _Schemas) -> Schema:
    described: Schema = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": describe_rights(operation),
        "tags": [chapter],
        "parameters": list(_parameters(operation)),
        "responses": _responses(operation, schemas),
    }
    if operation.body is not Nothing:
        described["requestBody"] = {
            "required": _needs_body(operation.body),
            "content": json_content(schemas.of(operation.body)),
        }
    return described


def _needs_body(kind: type) -> bool:
    return any(field.required for field in msgspec.structs.fields(kind))


def describe_rights(operation: Operation) -> str:
    """Which keys may, in a sentence each."""
    scopes = sorted(operation.scopes)
    said = f"Scope: {' or '.join(scopes)}."
    if operation.reach is Reach.ALL:
        said += " The key must reach the whole organisation."
    if operation.role == "owner":
        said += " The key must act as owner."
    return said


def _parameters(operation: Operation) -> Iterator[Schema]:
    for name, kind in operation.parameters.items():
        yield {"name": name, "in": "path", "required": True, "schema": KINDS_IN_PATHS[kind]}
    _, components = msgspec.json.schema_components([operation.query], ref_template="{name}")
    for name, schema in components[operation.query.__name__].get("properties", {}).items():
        yield {"name": name, "in": "query", "schema": _renamed(schema)}
    if operation.method == "POST":
        yield {
            "name": HEADER,
            "in": "header",
            "description": "The same answer again for 24 hours, however often it is sent.",
            "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"},
        }


def _responses(operation: Operation, schemas: _Schemas) -> Schema:
    answer = None if operation.answer is None else schemas.of(operation.answer)
    wait = header_schema("Seconds to wait", {"type": "integer", "minimum": 1})
    responses = {str(operation.status): json_response_schema("Success", answer)}
    responses |= {str(KINDS[code].status): problem_response_schema(code) for code in REFUSALS}
    responses["429"] = problem_response_schema(Code.RATE_LIMITED, headers={"Retry-After": wait})
    if operation.parameters:
        responses["404"] = problem_response_schema(Code.NOT_FOUND)
    if operation.method != "GET":
        responses["409"] = problem_response_schema(Code.CONFLICT)
        responses["415"] = problem_response_schema(Code.UNSUPPORTED_MEDIA_TYPE)
    return responses
