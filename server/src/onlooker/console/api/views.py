"""Answers requests: admits the key, decodes what was sent, runs the operation, and writes answers and problems."""

from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from onlooker.console.api.caller import ApiCaller, authenticate
from onlooker.console.api.idempotent_requests import (
    HEADER,
    StoredAnswer,
    answer_once,
    check_idempotency_key,
    hash_request,
)
from onlooker.console.api.operation import ApiCall, Nothing, Operation, Reach
from onlooker.console.api.rate_limit import KeyLimit
from onlooker.console.tokens.json_views import problem_response
from onlooker.console.web.request_log import DATABASE_UNAVAILABLE, RETRY_AFTER_S
from onlooker.errors import Code, Problem, bad_request
from onlooker.http.answers import dependency_unavailable
from onlooker.http.limits import require_uncompressed
from onlooker.streams.organisations import RefusedError, is_higher

View = Callable[..., HttpResponse]

NUL = b"\\u0000"
"""As JSON writes it: the database takes none."""


def make_view(operations: Mapping[str, Operation], limit: KeyLimit) -> View:
    """Of one path; by method."""
    methods = [*operations, *(["HEAD"] if "GET" in operations else [])]

    @csrf_exempt  # it uses no cookies
    def answer(request: HttpRequest, **path: Any) -> HttpResponse:
        method = "GET" if request.method == "HEAD" else request.method or ""
        try:
            if method not in operations:
                allowed = ", ".join(methods)
                raise Problem(Code.METHOD_NOT_ALLOWED, f"Use {allowed}.", headers={"Allow": allowed})
            caller = authenticate(request)
            limit.take(caller.key.pk)
            return _run(operations[method], caller, request, path)
        except Problem as problem:
            return problem_response(problem)
        except DATABASE_UNAVAILABLE:
            return problem_response(dependency_unavailable(retry_after_s=RETRY_AFTER_S))

    return answer


@csrf_exempt
def show_unknown(request: HttpRequest) -> HttpResponse:
    """Any other path: programs read problems, not pages."""
    detail = "There is no such resource. /api/v1/ lists all of them; none ends with a slash."
    return problem_response(Problem(Code.NOT_FOUND, detail))


def _run(operation: Operation, caller: ApiCaller, request: HttpRequest, path: dict[str, Any]) -> HttpResponse:
    _admit(operation, caller)
    query = _read_query(request, operation.query)
    body = _read_body(request, operation.body)
    call = ApiCall(caller, body, query, path, request)
    answer = _do_once(operation, call)
    return HttpResponse(
        answer.body or b"",
        status=answer.status,
        content_type="application/json" if answer.body else None,
        headers={"Cache-Control": "no-store"},
    )


def _admit(operation: Operation, caller: ApiCaller) -> None:
    """Raises Problem. What the key does not reach is not found later: handlers see only its part."""
    if not operation.scopes & set(caller.key.scopes):
        wanted = " or ".join(sorted(operation.scopes))
        raise Problem(Code.MISSING_SCOPE, f"This needs a key with the scope {wanted}. This one has others.")
    if operation.reach is Reach.ALL and not caller.key.reaches_all:
        raise Problem(
            Code.FORBIDDEN, "This key is for some sites and streams alone. Use one for the whole organisation."
        )
    if is_higher(operation.role, caller.role):
        raise Problem(
            Code.FORBIDDEN, f"This needs a key that acts as {operation.role}. This one acts as {caller.role}."
        )


def _do_once(operation: Operation, call: ApiCall[Any, Any]) -> StoredAnswer:
    idempotency_key = call.request.headers.get(HEADER, "")
    if operation.method != "POST" or not idempotency_key:
        return _do(operation, call)
    check_idempotency_key(idempotency_key)
    sha256 = hash_request(operation.method, call.request.path, call.request.body)
    return answer_once(
        call.caller, idempotency_key, sha256, lambda: _do(operation, call), is_atomic=operation.is_atomic
    )


def _do(operation: Operation, call: ApiCall[Any, Any]) -> StoredAnswer:
    try:
        found = operation.handler(call)
    except RefusedError as refusal:
        raise Problem(Code.CONFLICT, str(refusal)) from None
    return StoredAnswer(operation.status, b"" if operation.answer is None else msgspec.json.encode(found))


def _read_query(request: HttpRequest, kind: type) -> Any:
    """Each parameter once; those that are not known are refused, so that a misspelt filter does not answer for all."""
    repeated = [name for name in request.GET if len(request.GET.getlist(name)) > 1]
    if repeated:
        raise bad_request(f"Send the parameter {repeated[0][:50]!r} once.")
    given = {name: value for name, value in request.GET.items() if value != ""}
    known = {one.name for one in msgspec.structs.fields(kind)}
    unknown = sorted(given.keys() - known)
    if unknown:
        listed = ", ".join(sorted(known)) or "none"
        raise bad_request(f"The parameter {unknown[0][:50]!r} is not known. Known here: {listed}.")
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise bad_request(f"A parameter is not what it must be: {error}.") from None


def _read_body(request: HttpRequest, kind: type) -> Any:
    sent = request.body.removeprefix(BOM_UTF8)
    if not sent and kind is Nothing:
        return Nothing()
    if request.content_type != "application/json" and sent:
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send application/json.")
    require_uncompressed(request.headers.get("Content-Encoding", ""))
    if NUL in sent:
        raise bad_request("The body contains a NUL character, which is never valid here.")
    try:
        return msgspec.json.decode(sent or b"{}", type=kind)
    except RecursionError:
        raise bad_request("The JSON is nested too deep.") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise bad_request(f"The body is not what it must be: {error}.") from None
