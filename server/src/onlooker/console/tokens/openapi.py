"""`GET /openapi.json`: every JSON route of the console, as an OpenAPI document."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from onlooker.console.billing.configuration import is_billing_on
from onlooker.console.devices.agent_requests import CredentialRequest, EnrolmentBody, EnrolmentRequest
from onlooker.console.devices.configuration_requests import ConfigurationBody, HealthBody
from onlooker.console.tokens import json_views
from onlooker.console.tokens.json_views import json_view
from onlooker.devices.health import Health
from onlooker.errors import KINDS, Code
from onlooker.http.openapi import (
    PROBLEM,
    TEXT,
    TRUTH,
    Schema,
    describe_api,
    header_schema,
    json_content,
    json_response_schema,
    object_schema,
    problem_response_schema,
    ready_schema,
    reference,
    schema_of,
)

_REFUSALS_OF_ALL = (Code.BAD_REQUEST, Code.METHOD_NOT_ALLOWED, Code.REQUEST_TIMEOUT, Code.TOO_LARGE, Code.OVERLOADED)
"""What any request may be refused with, before or behind its route."""

_SENTENCES: Schema = {"type": "array", "items": TEXT, "minItems": 1}
_TOKEN_PROBLEM: Schema = {
    "allOf": [reference("Problem")],
    "properties": {
        name: _SENTENCES | {"description": f"What is wrong with {name}"}
        for name in ("username", "client_id", "access_token")
    }
    | {"non_field_errors": _SENTENCES | {"description": "What is wrong, where it is no single field"}},
}
_KEY = object_schema(
    {
        "kty": {"const": "EC"},
        "crv": {"const": "P-256"},
        "alg": {"const": "ES256"},
        "use": {"const": "sig"},
        "kid": TEXT,
        "x": TEXT,
        "y": TEXT,
    }
)
_CREDENTIALS = object_schema(
    {
        "username": TEXT | {"description": "E-mail address of the stream's owner or of a member, in any case."},
        "client_id": TEXT | {"description": "The stream's Login."},
        "access_token": TEXT | {"description": "The stream's Password."},
    }
)
_TOKEN = object_schema(
    {"token": TEXT | {"description": "A JWT for the data endpoint. It lives 5 hours; then ask again."}}
)
_LIVE = object_schema({"live": TRUTH})
_READY = ready_schema("database")


@json_view("GET", "HEAD")
def show_document(request: HttpRequest) -> HttpResponse:
    return json_views.json_response(
        describe_console(), Cache_Control="public, max-age=60", Access_Control_Allow_Origin="*"
    )


def describe_console() -> Schema:
    """Pages for people are not in it."""
    paths = {
        "/api-token-authstream/": {"post": _give_token("give_token")},
        "/api-token-authstream": {"post": _give_token("give_token_without_slash")},
        "/.well-known/jwks.json": {
            "get": _read(
                "show_keys", "Public keys that verify tokens", object_schema({"keys": {"type": "array", "items": _KEY}})
            )
            | {"parameters": [{"name": "If-None-Match", "in": "header", "schema": TEXT}]}
        },
        "/openapi.json": {"get": _read("show_document", "This document", {"type": "object"})},
        "/devices/enrol/": {"post": _give_credential("enrol_device", "Enrol a device with a code", EnrolmentRequest)},
        "/devices/credential/": {
            "post": _give_credential("renew_credential", "A new credential for a device", CredentialRequest)
        },
        "/devices/configuration/": {"get": _show_configuration()},
        "/devices/health/": {"post": _take_health()},
        "/livez": {"get": _read("show_live", "Whether the console runs", _LIVE)},
        "/readyz": {"get": _show_ready()},
    }
    paths["/.well-known/jwks.json"]["get"]["responses"]["304"] = {"description": "You have them already"}
    if is_billing_on():
        paths["/billing/webhook/"] = {"post": _take_payment_event()}
    return describe_api(
        "Onlooker console", settings.ONLOOKER.console_url, paths=paths, schemas={"TokenProblem": _TOKEN_PROBLEM}
    )


def _give_token(name: str) -> Schema:
    refusals = (*_REFUSALS_OF_ALL, Code.UNSUPPORTED_MEDIA_TYPE, Code.BAD_CREDENTIALS)
    wait = header_schema("Seconds to wait", {"type": "integer", "minimum": 1})
    responses = _responses(_TOKEN, *refusals)
    responses["429"] = problem_response_schema(Code.RATE_LIMITED, headers={"Retry-After": wait})
    for code in (Code.BAD_REQUEST, Code.BAD_CREDENTIALS, Code.UNSUPPORTED_MEDIA_TYPE, Code.RATE_LIMITED):
        responses[str(KINDS[code].status)]["content"] = json_content(reference("TokenProblem"), "problem+json")
    return {
        "operationId": name,
        "summary": "A token for a stream's credentials",
        "description": "Pages of any origin may ask: CORS is open for POST, without credentials mode.",
        "requestBody": {"required": True, "content": json_content(_CREDENTIALS)},
        "responses": responses,
    }


def _give_credential(name: str, summary: str, body: type) -> Schema:
    refusals = (*_REFUSALS_OF_ALL, Code.UNSUPPORTED_MEDIA_TYPE, Code.BAD_CREDENTIALS, Code.DEVICE_REVOKED)
    wait = header_schema("Seconds to wait", {"type": "integer", "minimum": 1})
    responses = _responses(schema_of(EnrolmentBody), *refusals)
    responses["429"] = problem_response_schema(Code.RATE_LIMITED, headers={"Retry-After": wait})
    return {
        "operationId": name,
        "summary": summary,
        "description": "For devices. Repeatable: the same key is the same device.",
        "requestBody": {"required": True, "content": json_content(schema_of(body))},
        "responses": responses,
    }


_DEVICE_REFUSALS = (*_REFUSALS_OF_ALL, Code.BAD_CREDENTIALS, Code.DEVICE_REVOKED)
_DEVICE_KEY: Schema = {
    "name": "Authorization",
    "in": "header",
    "required": True,
    "schema": TEXT,
    "description": "`Bearer` and the key that the device made when it enrolled",
}


def _show_configuration() -> Schema:
    responses = _device_responses(schema_of(ConfigurationBody), *_DEVICE_REFUSALS)
    responses["200"]["headers"] = {"ETag": header_schema("The version and a hash of the settings", TEXT)}
    responses["304"] = {"description": "You have it already"}
    return {
        "operationId": "show_device_configuration",
        "summary": "What a device is to be set to",
        "description": "For devices. Settings that are not in it are the device's own choice.",
        "parameters": [_DEVICE_KEY, {"name": "If-None-Match", "in": "header", "schema": TEXT}],
        "responses": responses,
    }


def _take_health() -> Schema:
    return {
        "operationId": "take_device_health",
        "summary": "How a device is, and what it made of its configuration",
        "description": "For devices, once a minute, up to 8 KiB. The answer names what is offered now.",
        "parameters": [_DEVICE_KEY],
        "requestBody": {"required": True, "content": json_content(schema_of(Health))},
        "responses": _device_responses(schema_of(HealthBody), *_DEVICE_REFUSALS, Code.UNSUPPORTED_MEDIA_TYPE),
    }


def _device_responses(schema: Schema, *refusals: Code) -> Schema:
    wait = header_schema("Seconds to wait", {"type": "integer", "minimum": 1})
    limited = problem_response_schema(Code.RATE_LIMITED, headers={"Retry-After": wait})
    return _responses(schema, *refusals) | {"429": limited}


def _show_ready() -> Schema:
    operation = _read("show_ready", "Whether the console can serve", _READY)
    not_ready = {
        "description": "Not ready, or busy",
        "content": json_content(_READY) | json_content(PROBLEM, "problem+json"),
    }
    operation["responses"]["503"] = not_ready
    return operation


def _take_payment_event() -> Schema:
    return {
        "operationId": "take_payment_event",
        "summary": "An event from Stripe, signed by it",
        "parameters": [{"name": "Stripe-Signature", "in": "header", "required": True, "schema": TEXT}],
        "requestBody": {"required": True, "content": json_content({"type": "object"})},
        "responses": _responses(None, *_REFUSALS_OF_ALL),
    }


def _read(name: str, summary: str, schema: Schema) -> Schema:
    return {"operationId": name, "summary": summary, "responses": _responses(schema, *_REFUSALS_OF_ALL)}


def _responses(schema: Schema | None, *refusals: Code) -> Schema:
    return {"200": json_response_schema("Success", schema)} | {
        str(KINDS[code].status): problem_response_schema(code) for code in refusals
    }
