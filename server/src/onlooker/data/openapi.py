"""The data endpoint's own OpenAPI document, made from the routes and the metrics."""

from typing import Any

from onlooker.data import examples
from onlooker.data.schemas import ENTITIES, PROBLEM, READY, Schema
from onlooker.errors import KINDS, Code
from onlooker.gateway.operation import RouteRow
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.parsing import HIGHEST_PAGE
from onlooker.metrics.query import Time

_MOMENT: Schema = {
    "type": "string",
    "pattern": r"^(19[789][0-9]|20[0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):?[0-5][0-9])?$",
}
_ZONE_RULE = "without an offset it is read in the stream's time zone, or in `tz`"
_TEXT: Schema = {"type": "string"}
_WAIT = {"Retry-After": {"description": "Seconds to wait", "required": True, "schema": {"type": "integer"}}}
_CHALLENGE = {"WWW-Authenticate": {"description": "Bearer", "required": True, "schema": _TEXT}}
_HEADERS = {
    Code.MISSING_TOKEN: _CHALLENGE,
    Code.RATE_LIMITED: _WAIT,
    Code.OVERLOADED: _WAIT,
    Code.METHOD_NOT_ALLOWED: {"Allow": {"description": "The methods there are", "required": True, "schema": _TEXT}},
}
_REFUSALS = (Code.BAD_REQUEST, Code.MISSING_TOKEN, Code.RATE_LIMITED, Code.OVERLOADED)
_OF_ALL = (Code.METHOD_NOT_ALLOWED, Code.INTERNAL_ERROR)
_TAG = {"ETag": {"description": "Names this answer, for If-None-Match", "required": True, "schema": _TEXT}}


def describe_data(routes: tuple[RouteRow, ...], data_url: str) -> dict[str, Any]:
    """The whole document."""
    answers = {
        "show_entities": _entities_answers(),
        "show_table": _table_answers(),
        "show_ready": {"200": _json("It can", READY), "503": _json("It can't", READY)},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Onlooker data endpoint", "version": "1"},
        "servers": [{"url": data_url}],
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "schemas": {"Problem": PROBLEM, "Entities": ENTITIES},
        },
        "paths": {row.path: {row.method.lower(): _operation(row, answers.get(row.handler.__name__))} for row in routes},
    }


def _operation(row: RouteRow, answers: Schema | None) -> Schema:
    answers = answers or {"200": _json("Success", {"type": "object"})}
    refusals = _OF_ALL if row.open else (*_REFUSALS, *_OF_ALL)
    operation: Schema = {
        "operationId": row.handler.__name__,
        "summary": row.summary,
        "parameters": [] if row.open else _parameters(row.handler.__name__),
        "responses": answers | {str(KINDS[code].status): _problem(code) for code in refusals},
    }
    return operation | ({"security": []} if row.open else {})


def _parameters(operation: str) -> list[Schema]:
    known = "; ".join(f"`{metric.name}`: {metric.meaning}" for metric in METRICS.values())
    names: Schema = {"type": "array", "items": {"enum": list(METRICS)}, "minItems": 1}
    time = {"enum": [str(one) for one in Time], "default": "global"}
    zone = {"type": "string", "pattern": "^[A-Za-z0-9_+/-]{1,64}$"}
    page = {"type": "integer", "minimum": 1, "maximum": HIGHEST_PAGE, "default": 1}
    listed = {"style": "form", "explode": False, "required": True}
    parameters = [
        _query("metrics", f"Which metrics, separated by commas. {known}", names) | listed,
        _query("from_date", f"Where the range begins; {_ZONE_RULE}", _MOMENT) | {"required": True},
        _query("to_date", f"Where it ends; {_ZONE_RULE}. Now, where it is left out", _MOMENT),
        _query("time", "How the range is cut into buckets", time),
        _query("tz", "Time zone of the buckets, an IANA name; the stream's own where it is left out", zone),
    ]
    if operation == "show_entities":
        parameters.append(_query("page", "Which page of 50 buckets", page))
        parameters.append({"name": "If-None-Match", "in": "header", "schema": _TEXT})
    return parameters


def _query(name: str, description: str, schema: Schema) -> Schema:
    return {
        "name": name,
        "in": "query",
        "description": f"{description}.".replace("..", "."),
        "schema": schema,
        "example": examples.REQUEST[name],
    }


def _entities_answers() -> Schema:
    found = _json("A page of buckets", {"$ref": "#/components/schemas/Entities"}) | {"headers": _TAG}
    found["content"]["application/json"]["example"] = examples.ANSWER
    return {"200": found, "304": {"description": "You have this answer already", "headers": _TAG}}


def _table_answers() -> Schema:
    content = {"text/csv": {"schema": _TEXT, "example": examples.TABLE}}
    return {"200": {"description": "All buckets, one a row", "content": content}}


def _problem(code: Code) -> Schema:
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": KINDS[code].title, "content": content} | (
        {"headers": _HEADERS[code]} if code in _HEADERS else {}
    )


def _json(description: str, schema: Schema) -> Schema:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
