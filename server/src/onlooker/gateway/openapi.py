"""The gateway's own OpenAPI document, made from the routes and the catalogue."""

from typing import Any

from onlooker.catalogue import Catalogue
from onlooker.catalogue.service import Field, Kind, Service
from onlooker.errors import KINDS
from onlooker.gateway.operation import RouteRow

_PARAMETERS = {
    "name": {"type": "string"},
    "version": {"type": "string"},
    "id": {"type": "string", "format": "uuid"},
}
_KINDS: dict[Kind, dict[str, Any]] = {
    Kind.TEXT: {"type": "string"},
    Kind.BOOLEAN: {"type": "boolean"},
    Kind.POSITIVE: {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e9},
    Kind.FRACTION: {"type": "number", "minimum": 0, "maximum": 1},
    Kind.TIMESTAMP: {"type": "string", "format": "date-time"},
    Kind.MEDIA: {"type": "string", "description": "`attachment://<name>` or the URL of a blob"},
    Kind.FRACTIONS: {
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
    },
}
_JOB = {
    "type": "object",
    "required": ["url", "uuid", "status"],
    "properties": {
        "url": {"type": "string", "format": "uri"},
        "uuid": {"type": "string", "format": "uuid"},
        "status": {"type": "integer"},
        "expires_at": {"type": "string", "format": "date-time"},
        "error": {"type": "string"},
        "error_code": {"type": "string"},
    },
}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
    },
}
_STATE = {
    "type": "object",
    "required": ["session_id"],
    "properties": {"session_id": {"type": "string", "format": "uuid"}},
}
_TEXT = {"type": "string"}
_NUMBER = {"type": "number", "minimum": 0}
_MOMENT = {"type": "string", "format": "date-time"}
_SWITCH = {"type": "boolean"}
_STREAM: dict[str, Any] = {
    "type": "object",
    "required": ["client_id", "kind", "enabled", "state", "month", "retention_days", "reads", "now"],
    "properties": {
        "client_id": {"type": "string", "format": "uuid"},
        "kind": {"type": "string", "enum": ["developer", "enterprise"]},
        "enabled": _SWITCH,
        "state": {"type": "string", "enum": ["ready", "disabled", "month_used_up"]},
        "month": {
            "type": "object",
            "required": ["used_s", "quota_s", "nearly_used_up", "resets_at"],
            "properties": {
                "used_s": _NUMBER,
                "quota_s": {"type": ["number", "null"], "description": "null: no limit"},
                "nearly_used_up": _SWITCH | {"description": "Whether it is worth a warning: 80 % or more are used"},
                "resets_at": _MOMENT,
            },
        },
        "retention_days": {"type": "integer"},
        "reads": {"type": "object", "properties": dict.fromkeys(("age", "gender", "expression"), _SWITCH)},
        "console_url": _TEXT,
        "data_url": _TEXT,
        "now": _MOMENT | {"description": "The server's clock"},
    },
}
_A_JOB = {"$ref": "#/components/schemas/Job"}
_ANY_OBJECT: dict[str, Any] = {"type": "object"}
_ANSWERS: dict[str, dict[str, Any]] = {
    "create_job": {"201": _A_JOB, "202": _A_JOB},
    "show_job": {"200": _A_JOB, "201": _A_JOB, "202": _A_JOB},
    "delete_job": {"204": None},
    "end_session": {"204": None},
    "delete_blob": {"204": None},
    "create_blob": {"201": _A_JOB},
    "create_feed": {"201": _A_JOB},
    "show_stream": {"200": {"$ref": "#/components/schemas/Stream"}},
}


def describe_gateway(routes: tuple[RouteRow, ...], catalogue: Catalogue, public_url: str) -> dict[str, Any]:
    """The whole document; each service's jobs are a path of their own."""
    paths: dict[str, dict[str, Any]] = {}
    services = [service for versions in catalogue.values() for service in versions.values()]
    for row in routes:
        if row.handler.__name__ in ("create_job", "create_feed"):
            for service in services:
                path = row.path.format(name=service.name, version=service.version)
                paths.setdefault(path, {})[row.method.lower()] = _operation(row, path, service)
        else:
            paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, row.path, None)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Onlooker compute gateway", "version": "1"},
        "servers": [{"url": public_url}],
        "security": [{"stream": []}],
        "components": {
            "securitySchemes": {"stream": {"type": "http", "scheme": "basic"}},
            "schemas": {"Problem": _PROBLEM, "Job": _JOB, "Stream": _STREAM},
        },
        "paths": paths,
    }


def _operation(row: RouteRow, path: str, service: Service | None) -> dict[str, Any]:
    name = row.handler.__name__
    operation: dict[str, Any] = {
        "operationId": f"{name}_of_{service.name}_{service.version}" if service else _operation_id(path, name),
        "summary": row.summary,
        "parameters": [
            {"name": key, "in": "path", "required": True, "schema": schema}
            for key, schema in _PARAMETERS.items()
            if "{" + key + "}" in path
        ],
        "responses": _responses(name),
    }
    if row.open:
        operation["security"] = []
    if service:
        operation["summary"] = f"{row.summary} of {service.name}"
        operation["description"] = service.description
        operation["requestBody"] = _body(_fields(service, with_media=name == "create_job"))
    elif name == "create_blob":
        operation["requestBody"] = _body(
            {"type": "object", "required": ["content"], "properties": {"content": {"type": "string"}}}
        )
    elif name == "take_input":
        content = {"multipart/x-mixed-replace": {"schema": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _operation_id(path: str, name: str) -> str:
    """Unique, though two paths may have one handler."""
    return "show_description" if path.endswith("/description") else name


def _responses(name: str) -> dict[str, Any]:
    answers: dict[str, Any] = {
        status: {"description": "Success"} | ({"content": {"application/json": {"schema": schema}}} if schema else {})
        for status, schema in _ANSWERS.get(name, {"200": _ANY_OBJECT}).items()
    }
    if name in ("show_blob", "give_output"):
        answers = {"200": {"description": "Success"}}
    if name == "show_ready":
        answers["503"] = {"description": "Not ready"}
    problem = {
        "description": "A problem",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    return answers | {str(kind.status): problem for kind in KINDS.values() if str(kind.status) not in answers}


def _fields(service: Service, *, with_media: bool) -> dict[str, Any]:
    fields = [field for field in service.fields if with_media or field.kind is not Kind.MEDIA]
    required = [field.name for field in fields if field.required]
    return {
        "type": "object",
        "required": required,
        "properties": {field.name: _schema(field) for field in fields}
        | {"async": {"type": "boolean"}, "state": _STATE},
    }


def _schema(field: Field) -> dict[str, Any]:
    schema = {"description": field.description} | _KINDS[field.kind]
    if field.choices and schema["type"] == "object":
        member = schema["additionalProperties"]
        return schema | {"properties": dict.fromkeys(field.choices, member), "additionalProperties": False}
    return schema | {"enum": list(field.choices)} if field.choices else schema


def _body(fields: dict[str, Any]) -> dict[str, Any]:
    multipart = {
        "type": "object",
        "required": ["meta"],
        "properties": {"meta": fields},
        "patternProperties": {"^attachment://": {"type": "string", "format": "binary"}},
    }
    encoding = {"meta": {"contentType": "application/json"}}
    return {
        "required": True,
        "content": {
            "application/json": {"schema": fields},
            "multipart/form-data": {"schema": multipart, "encoding": encoding},
        },
    }
