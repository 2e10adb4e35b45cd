"""What a browser may do with our pages: nothing but our own files, no inline script, no frame."""

from collections.abc import Callable, Mapping

from django.conf import settings
from django.http import HttpRequest, HttpResponse

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",  # the picture of a second factor's secret must not have an address
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
_PERMISSIONS = {"camera": "()", "microphone": "()", "geolocation": "()"}


Handler = Callable[[HttpRequest], HttpResponse]


def content_security_policy(get_response: Handler) -> Handler:
    """Django middleware; every answer carries the policy, and what a person sees is never kept by a cache."""
    sources: dict[str, str] = {}
    if settings.ONLOOKER.stripe_secret_key:
        sources["form-action"] = settings.ONLOOKER.stripe_checkout_url  # a form's answer leads there
    policy, permissions = _write_policy(sources), _write_permissions({})

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Content-Security-Policy", policy)
        response.setdefault("Permissions-Policy", permissions)
        response.setdefault("Cache-Control", "no-store")
        return response

    return answer


def allow(response: HttpResponse, *, sources: Mapping[str, str], permissions: tuple[str, ...] = ()) -> HttpResponse:
    """This one page may do more: ask these sources as well, and use these parts of the device."""
    response["Content-Security-Policy"] = _write_policy(sources)
    response["Permissions-Policy"] = _write_permissions(dict.fromkeys(permissions, "(self)"))
    return response


def _write_policy(sources: Mapping[str, str]) -> str:
    added = {name: f"{_POLICY.get(name, '')} {more}".strip() for name, more in sources.items()}
    return "; ".join(f"{directive} {values}" for directive, values in (_POLICY | added).items())


def _write_permissions(granted: dict[str, str]) -> str:
    return ", ".join(f"{feature}={who}" for feature, who in (_PERMISSIONS | granted).items())
