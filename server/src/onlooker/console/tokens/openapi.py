"""`GET /openapi.json`: every JSON route of the console, as an OpenAPI document."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from onlooker.console.billing.configuration import is_billing_on
from onlooker.console.tokens.answers import json_answer, json_route
from onlooker.errors import KINDS, Code

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TRUTH: Schema = {"type": "boolean"}
_ASKED_BY_ALL = (Code.BAD_REQUEST, Code.METHOD_NOT_ALLOWED, Code.REQUEST_TIMEOUT, Code.TOO_LARGE, Code.OVERLOADED)
"""What any request may be refused with, before or behind its route."""


def _object(properties: dict[str, Schema], **more: Any) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties} | more


_PROBLEM = _object(
    {"type": _TEXT, "title": _TEXT, "status": {"type": "integer"}, "detail": _TEXT, "code": _TEXT},
)
_SENTENCES: Schema = {"type": "array", "items": _TEXT, "minItems": 1}
_TOKEN_PROBLEM: Schema = {
    "allOf": [{"$ref": "#/components/schemas/Problem"}],
    "properties": {
        name: _SENTENCES | {"description": f"What is wrong with {name}"}
        for name in ("username", "client_id", "access_token")
    }
    | {"non_field_errors": _SENTENCES | {"description": "What is wrong, where it is no single field"}},
}
_KEY = _object(
    {
        "kty": {"const": "EC"},
        "crv": {"const": "P-256"},
        "alg": {"const": "ES256"},
        "use": {"const": "sig"},
        "kid": _TEXT,
        "x": _TEXT,
        "y": _TEXT,
    }
)
_CREDENTIALS = _object(
    {
        "username": _TEXT | {"description": "E-mail address of the stream's owner or of a member, in any case."},
        "client_id": _TEXT | {"description": "The stream's Login."},
        "access_token": _TEXT | {"description": "The stream's Password."},
    }
)
_TOKEN = _object({"token": _TEXT | {"description": "A JWT for the data endpoint. It lives 5 hours; then ask again."}})
_LIVE = _object({"live": _TRUTH})
_READY = _object({"ready": _TRUTH, "checks": _object({"database": _TRUTH})})


@json_route("GET", "HEAD")
def show_document(request: HttpRequest) -> HttpResponse:
    return json_answer(describe_console(), Cache_Control="public, max-age=60", Access_Control_Allow_Origin="*")


def describe_console() -> Schema:
    """Pages for people are not in it."""
    paths = {
        "/api-token-authstream/": {"post": _give_token("give_token")},
        "/api-token-authstream": {"post": _give_token("give_token_without_slash")},
        "/.well-known/jwks.json": {
            "get": _read("show_keys", "Public keys that verify tokens", _object({"keys": _list(_KEY)}))
            | {"parameters": [{"name": "If-None-Match", "in": "header", "schema": _TEXT}]}
        },
        "/openapi.json": {"get": _read("show_document", "This document", {"type": "object"})},
        "/livez": {"get": _read("show_live", "Whether the console runs", _LIVE)},
        "/readyz": {"get": _show_ready()},
    }
    paths["/.well-known/jwks.json"]["get"]["responses"]["304"] = {"description": "You have them already"}
    if is_billing_on():
        paths["/billing/webhook/"] = {"post": _take_payment_event()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Onlooker console", "version": "1"},
        "servers": [{"url": settings.ONLOOKER.console_url}],
        "components": {"schemas": {"Problem": _PROBLEM, "TokenProblem": _TOKEN_PROBLEM}},
        "paths": paths,
    }


def _give_token(name: str) -> Schema:
    refusals = (*_ASKED_BY_ALL, Code.UNSUPPORTED_MEDIA_TYPE, Code.BAD_CREDENTIALS)
    responses = _responses(_TOKEN, *refusals)
    wait = {"description": "Seconds to wait", "required": True, "schema": {"type": "integer", "minimum": 1}}
    responses["429"] = _problem(Code.RATE_LIMITED) | {"headers": {"Retry-After": wait}}
    for code in (Code.BAD_REQUEST, Code.BAD_CREDENTIALS, Code.UNSUPPORTED_MEDIA_TYPE, Code.RATE_LIMITED):
        schema = {"$ref": "#/components/schemas/TokenProblem"}
        responses[str(KINDS[code].status)]["content"] = _json(schema, "problem+json")
    return {
        "operationId": name,
        "summary": "A token for a stream's credentials",
        "description": "Pages of any origin may ask: CORS is open for POST, without credentials mode.",
        "requestBody": {"required": True, "content": _json(_CREDENTIALS)},
        "responses": responses,
    }


def _show_ready() -> Schema:
    operation = _read("show_ready", "Whether the console can serve", _READY)
    not_ready = {"description": "Not ready, or busy", "content": _json(_READY) | _json(_PROBLEM, "problem+json")}
    operation["responses"]["503"] = not_ready
    return operation


def _take_payment_event() -> Schema:
    return {
        "operationId": "take_payment_event",
        "summary": "An event from Stripe, signed by it",
        "parameters": [{"name": "Stripe-Signature", "in": "header", "required": True, "schema": _TEXT}],
        "requestBody": {"required": True, "content": _json({"type": "object"})},
        "responses": _responses(None, *_ASKED_BY_ALL),
    }


def _read(name: str, summary: str, schema: Schema) -> Schema:
    return {"operationId": name, "summary": summary, "responses": _responses(schema, *_ASKED_BY_ALL)}


def _responses(schema: Schema | None, *refusals: Code) -> Schema:
    success: Schema = {"description": "Success"} | ({"content": _json(schema)} if schema else {})
    return {"200": success} | {str(KINDS[code].status): _problem(code) for code in refusals}


def _problem(code: Code) -> Schema:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": KINDS[code].title, "content": _json(schema, "problem+json")}


def _json(schema: Schema, kind: str = "json") -> Schema:
    return {f"application/{kind}": {"schema": schema}}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}
