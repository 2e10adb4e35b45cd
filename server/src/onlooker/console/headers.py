"""What a browser may do with our pages: nothing but our own files, no inline script, no frame."""

from collections.abc import Callable

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


Handler = Callable[[HttpRequest], HttpResponse]


def content_security_policy(get_response: Handler) -> Handler:
    """Django middleware; every answer carries the policy, and what a person sees is never kept by a cache."""
    policy = dict(_POLICY)
    if settings.ONLOOKER.stripe_secret_key:
        policy["form-action"] += f" {settings.ONLOOKER.stripe_checkout_url}"  # a form's answer leads there
    header = "; ".join(f"{directive} {sources}" for directive, sources in policy.items())

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["Content-Security-Policy"] = header
        response["Permissions-Policy"] = "camera=(), microphone=(), geolocation=()"
        response.setdefault("Cache-Control", "no-store")
        return response

    return answer
