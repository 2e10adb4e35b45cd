"""Django middleware that rejects requests the console can't serve, and limits what browsers may do with its pages."""

from collections.abc import Callable, Mapping, Sequence

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest

from onlooker.errors import bad_request
from onlooker.http.answers import PROBLEM_TYPE

Handler = Callable[[HttpRequest], HttpResponse]

API_PATH = "/api/"
"""Programs read problems there."""

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",  # the QR code of a second factor must not have an address
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
_PERMISSIONS = {"camera": "()", "microphone": "()", "geolocation": "()"}


def reject_bad_requests(get_response: Handler) -> Handler:
    """Django middleware, before those that read sessions: HTTPS, the console's own host name, no NUL characters."""

    def answer(request: HttpRequest) -> HttpResponse:
        reason = _find_fault(request)
        if reason and request.path.startswith(API_PATH):
            problem = bad_request(reason)
            return HttpResponse(problem.body(), status=problem.status, content_type=PROBLEM_TYPE)
        if reason:
            return HttpResponseBadRequest(f"{reason}\n", content_type="text/plain; charset=utf-8")
        return get_response(request)

    return answer


def _find_fault(request: HttpRequest) -> str:
    """What is wrong with a request, and the remedy; empty if nothing is."""
    if settings.SESSION_COOKIE_SECURE and not request.is_secure():
        return (
            f"Open {settings.ONLOOKER.console_url} instead. This port is for a proxy that sends "
            "X-Forwarded-Proto: https and X-Forwarded-For, and that ONLOOKER_TRUSTED_PROXIES names."
        )
    try:
        request.get_host()
    except DisallowedHost:
        return (
            f"This console is at {settings.ONLOOKER.console_url} and answers to no other name. "
            "Its operator can change the name with ONLOOKER_CONSOLE_URL."
        )
    if any("\0" in value for value in (request.path, *request.GET.values(), *request.COOKIES.values())):
        return "The address or a cookie contains a NUL character, which is never valid here."
    return ""


def set_security_headers(get_response: Handler) -> Handler:
    """Django middleware: only our own files, no inline scripts, no frames; and no page is kept in a cache."""
    sources: dict[str, str] = {}
    if settings.ONLOOKER.stripe_secret_key:
        sources["form-action"] = settings.ONLOOKER.stripe_checkout_url  # forms redirect there
    policy, permissions = _write_policy(sources), _write_permissions({})

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Content-Security-Policy", policy)
        response.setdefault("Permissions-Policy", permissions)
        response.setdefault("Cache-Control", "no-store")
        return response

    return answer


def page_headers() -> dict[str, str]:
    """For pages that Django does not answer: the same limits."""
    return {
        "Content-Security-Policy": _write_policy({}),
        "Permissions-Policy": _write_permissions({}),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }


def allow_sources(
    response: HttpResponse, *, sources: Mapping[str, str], permissions: tuple[str, ...] = ()
) -> HttpResponse:
    """Let this one page connect to these sources too, and use these parts of the device."""
    response["Content-Security-Policy"] = _write_policy(sources)
    response["Permissions-Policy"] = _write_permissions(dict.fromkeys(permissions, "(self)"))
    return response


def allow_framing(response: HttpResponse, origins: Sequence[str]) -> HttpResponse:
    """Let pages of these origins show this one page in a frame; none without origins."""
    if origins:
        policy = _POLICY | {"frame-ancestors": " ".join(origins)}
        response["Content-Security-Policy"] = _join_policy(policy)
        response.xframe_options_exempt = True
    return response


def _write_policy(sources: Mapping[str, str]) -> str:
    added = {name: f"{_POLICY.get(name, '')} {more}".strip() for name, more in sources.items()}
    return _join_policy(_POLICY | added)


def _join_policy(policy: Mapping[str, str]) -> str:
    return "; ".join(f"{directive} {values}" for directive, values in policy.items())


def _write_permissions(granted: dict[str, str]) -> str:
    return ", ".join(f"{feature}={who}" for feature, who in (_PERMISSIONS | granted).items())
