"""The gateway's OpenAPI document, made from the routes and the catalogue."""

from collections.abc import Callable

from onlooker.errors import KINDS
from onlooker.gateway.condition import ConditionBody
from onlooker.gateway.device_visits import BatchAnswer
from onlooker.gateway.jobs import JobBody
from onlooker.gateway.stream import OwnStreamBody
from onlooker.gateway.visit_batch import DeviceBatch
from onlooker.http.openapi import (
    Schema,
    describe_api,
    json_content,
    json_response_schema,
    problem_response_schema,
    reference,
    schema_of,
)
from onlooker.http.routes import RouteRow
from onlooker_pipeline.catalogue import Catalogue
from onlooker_pipeline.catalogue.service import Field, FieldKind, Service

_PARAMETERS = {
    "name": {"type": "string"},
    "version": {"type": "string"},
    "id": {"type": "string", "format": "uuid"},
}
_KINDS: dict[FieldKind, Schema] = {
    FieldKind.TEXT: {"type": "string"},
    FieldKind.BOOLEAN: {"type": "boolean"},
    FieldKind.POSITIVE: {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e9},
    FieldKind.FRACTION: {"type": "number", "minimum": 0, "maximum": 1},
    FieldKind.TIMESTAMP: {"type": "string", "format": "date-time"},
    FieldKind.MEDIA: {"type": "string", "description": "`attachment://<name>` or the URL of a blob"},
    FieldKind.FRACTIONS: {
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
    },
}
_STATE = {
    "type": "object",
    "required": ["session_id"],
    "properties": {"session_id": {"type": "string", "format": "uuid"}},
}
_A_JOB = reference("Job")
_ANY_OBJECT: Schema = {"type": "object"}
_ANSWERS: dict[str, Schema] = {
    "create_job": {"201": _A_JOB, "202": _A_JOB},
    "show_job": {"200": _A_JOB, "201": _A_JOB, "202": _A_JOB},
    "delete_job": {"204": None},
    "end_session": {"204": None},
    "delete_blob": {"204": None},
    "create_blob": {"201": _A_JOB},
    "create_feed": {"201": _A_JOB},
    "show_stream": {"200": reference("Stream")},
    "put_condition": {"204": None},
    "take_visits": {"200": reference("BatchAnswer")},
}

_OF_SERVICES: dict[str, Callable[[Service], bool]] = {
    "create_job": lambda service: True,
    "create_feed": lambda service: True,
    "take_visits": lambda service: service.makes_visits,
}
"""Handlers of which each service has a path of its own, and which services."""


def describe_gateway(routes: tuple[RouteRow, ...], catalogue: Catalogue, public_url: str) -> Schema:
    """The whole document; each service's jobs are a path of their own."""
    paths: dict[str, Schema] = {}
    services = [service for versions in catalogue.values() for service in versions.values()]
    for row in routes:
        if row.handler.__name__ in _OF_SERVICES:
            for service in filter(_OF_SERVICES[row.handler.__name__], services):
                path = row.path.format(name=service.name, version=service.version)
                paths.setdefault(path, {})[row.method.lower()] = _operation(row, path, service)
        else:
            paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, row.path, None)
    return describe_api(
        "Onlooker compute gateway",
        public_url,
        paths=paths,
        schemas={
            "Job": schema_of(JobBody),
            "Stream": schema_of(OwnStreamBody),
            "Condition": schema_of(ConditionBody),
            "DeviceBatch": schema_of(DeviceBatch),
            "BatchAnswer": schema_of(BatchAnswer),
        },
        security={"stream": {"type": "http", "scheme": "basic"}},
    )


def _operation(row: RouteRow, path: str, service: Service | None) -> Schema:
    name = row.handler.__name__
    operation: Schema = {
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
    if service and name == "take_visits":
        operation["requestBody"] = {"required": True, "content": json_content(reference("DeviceBatch"))}
    elif service:
        operation["summary"] = f"{row.summary} of {service.name}"
        operation["description"] = service.description
        operation["requestBody"] = _body(_fields(service, with_media=name == "create_job"))
    elif name == "create_blob":
        operation["requestBody"] = _body(
            {"type": "object", "required": ["content"], "properties": {"content": {"type": "string"}}}
        )
    elif name == "put_condition":
        operation["requestBody"] = {"required": True, "content": json_content(reference("Condition"))}
    elif name == "take_input":
        content = {"multipart/x-mixed-replace": {"schema": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _operation_id(path: str, name: str) -> str:
    """Unique, though two paths may have one handler."""
    return "show_description" if path.endswith("/description") else name


def _responses(name: str) -> Schema:
    answers: Schema = {
        status: json_response_schema("Success", schema)
        for status, schema in _ANSWERS.get(name, {"200": _ANY_OBJECT}).items()
    }
    if name in ("show_blob", "give_output"):
        answers = {"200": {"description": "Success"}}
    if name == "show_ready":
        answers["503"] = {"description": "Not ready"}
    problems = {
        str(kind.status): problem_response_schema(code, description="A problem")
        for code, kind in KINDS.items()
        if str(kind.status) not in answers
    }
    return answers | problems


def _fields(service: Service, *, with_media: bool) -> Schema:
    fields = [field for field in service.fields if with_media or field.kind is not FieldKind.MEDIA]
    required = [field.name for field in fields if field.required]
    return {
        "type": "object",
        "required": required,
        "properties": {field.name: _schema(field) for field in fields}
        | {"async": {"type": "boolean"}, "state": _STATE},
    }


def _schema(field: Field) -> Schema:
    schema = {"description": field.description} | _KINDS[field.kind]
    if field.choices and schema["type"] == "object":
        member = schema["additionalProperties"]
        return schema | {"properties": dict.fromkeys(field.choices, member), "additionalProperties": False}
    return schema | {"enum": list(field.choices)} if field.choices else schema


def _body(fields: Schema) -> Schema:
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
