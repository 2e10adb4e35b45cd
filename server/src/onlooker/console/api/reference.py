"""The reference of the management interface: a page, written from the same document as programs read."""

from dataclasses import dataclass
from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from onlooker.console.api.openapi import describe_operations
from onlooker.http.openapi import Schema

_BEGINNING = "#/components/schemas/"
LIMITS = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "at most {}"),
    ("maxLength", "at most {} characters"),
    ("maxItems", "at most {} items"),
    ("pattern", "as {}"),
)


@dataclass(frozen=True)
class DescribedField:
    """A parameter, or a field of a body."""

    name: str
    kind: str
    is_required: bool
    explanation: str
    usual: str
    link: str = ""
    """Name of the schema that it refers to."""


@dataclass(frozen=True)
class DescribedOperation:
    """A row of the table of operations, as the page shows it."""

    name: str
    method: str
    url: str
    summary: str
    rights: str
    parameters: list[DescribedField]
    body: str
    answer: str
    status: str


@dataclass(frozen=True)
class DescribedStruct:
    """A body or an answer."""

    name: str
    explanation: str
    fields: list[DescribedField]


@require_safe
def show_reference(request: HttpRequest) -> HttpResponse:
    """Open to anybody: it says nothing about anybody's streams."""
    document = describe_operations()
    chapters: dict[str, list[DescribedOperation]] = {}
    for url, methods in document["paths"].items():
        for method, described in methods.items():
            chapters.setdefault(described["tags"][0], []).append(_describe_operation(url, method, described))
    schemas = document["components"]["schemas"]
    structs = [_describe_struct(name, schemas[name]) for name in sorted(schemas)]
    context = {
        "chapters": chapters,
        "structs": structs,
        "console_url": settings.ONLOOKER.console_url,
        "per_minute": settings.ONLOOKER.api_requests_per_minute,
    }
    return render(request, "api/reference.html", context)


def _describe_operation(url: str, method: str, described: Schema) -> DescribedOperation:
    status, answer = next(iter(described["responses"].items()))
    parameters = [
        _describe_field(one["name"], one["schema"], is_required=one.get("required", False), said=one)
        for one in described["parameters"]
    ]
    return DescribedOperation(
        name=described["operationId"],
        method=method.upper(),
        url=url,
        summary=described["summary"],
        rights=described["description"],
        parameters=parameters,
        body=_referred(described.get("requestBody", {})),
        answer=_referred(answer),
        status=status,
    )


def _referred(part: Schema) -> str:
    schema = part.get("content", {}).get("application/json", {}).get("schema", {})
    return str(schema.get("$ref", "")).removeprefix(_BEGINNING)


def _describe_struct(name: str, schema: Schema) -> DescribedStruct:
    required = schema.get("required", [])
    described = [
        _describe_field(field, said, is_required=field in required)
        for field, said in schema.get("properties", {}).items()
    ]
    choices = ", ".join(map(str, schema.get("enum", [])))
    explanation = " ".join(schema.get("description", "").split())
    return DescribedStruct(name, f"{explanation} One of: {choices}." if choices else explanation, described)


def _describe_field(name: str, schema: Schema, *, is_required: bool, said: Schema | None = None) -> DescribedField:
    explanation = schema.get("description", "") or (said or {}).get("description", "")
    limits = [text.format(schema[key]) for key, text in LIMITS if key in schema]
    usual = msgspec.json.encode(schema["default"]).decode() if "default" in schema else ""
    kind, link = _name_kind(schema)
    return DescribedField(
        name, kind, is_required, "; ".join([one for one in (explanation, *limits) if one]), usual, link
    )


def _name_kind(schema: Schema) -> tuple[str, str]:
    """In words, and the schema that it leads to."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_BEGINNING)
        return name, name
    if "anyOf" in schema:
        parts = [_name_kind(one) for one in schema["anyOf"]]
        return " or ".join(kind for kind, _ in parts), next((link for _, link in parts if link), "")
    if "enum" in schema:
        return " or ".join(f'"{one}"' for one in schema["enum"]), ""
    if schema.get("type") == "array":
        kind, link = _name_kind(schema.get("items", {}))
        return f"list of {kind}", link
    return _NAMES.get((schema.get("type"), schema.get("format")), str(schema.get("type", "any value"))), ""


_NAMES: dict[tuple[Any, Any], str] = {
    ("string", "date-time"): "time",
    ("string", "uuid"): "UUID",
    ("string", "date"): "date",
    ("string", None): "text",
    ("boolean", None): "true or false",
}
