"""Django middleware: what a session reaches, and where those are led who need a second factor."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.reach import (
    REACHES_ONLY,
    assume_second_factor,
    limit_to_session,
    organisations_that_wait,
)
from onlooker.console.streams.access import visible_streams

CLOSED_TO_PROVIDERS = {
    "account-delete",
    "account_change_password",
    "account_email",
    "account_set_password",
    "billing",
    "billing-card",
    "mfa_add_webauthn",
    "mfa_edit_webauthn",
    "mfa_remove_webauthn",
    "session-end",
    "usersessions_list",
}
"""Pages with which a provider could make the whole account its own: a new password, address or passkey."""


class SessionReach:
    """After the middleware that knows the account."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if _is_limited(request):
            limit_to_session(request.user, request.session)
        response = self._get_response(request)
        if response.status_code == 404 and request.method == "GET" and _waits_for_second_factor(request):
            return redirect("second-factor-required")
        return response

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        match = request.resolver_match
        if match and match.url_name in CLOSED_TO_PROVIDERS and _is_limited(request):
            return redirect("sign-in-closed")
        return None


def _is_limited(request: HttpRequest) -> bool:
    return settings.SESSION_COOKIE_NAME in request.COOKIES and REACHES_ONLY in request.session


def _waits_for_second_factor(request: HttpRequest) -> bool:
    """Whether the page is there for this account once it has one. Others learn nothing: for them it is not there."""
    account, match = request.user, request.resolver_match
    if not isinstance(account, Account) or match is None or not account.may_lack_factor:
        return False
    client_id, organisation_id = match.kwargs.get("client_id"), match.kwargs.get("organisation_id")
    if isinstance(client_id, UUID):
        return visible_streams(assume_second_factor(account)).filter(client_id=client_id).exists() and (
            organisations_that_wait(account).filter(streams__client_id=client_id).exists()
        )
    return organisation_id is not None and organisations_that_wait(account).filter(pk=organisation_id).exists()
