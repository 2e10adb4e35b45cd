"""The door of the staff's pages: signing in as everywhere else, and never without a second factor."""

from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.second_factor import has_second_factor


class GuardedSite(AdminSite):
    """Django's admin behind that door."""

    def has_permission(self, request: HttpRequest) -> bool:
        return may_enter(request)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return show_the_way(request, extra_context)


def may_enter(request: HttpRequest) -> bool:
    account = request.user
    return isinstance(account, Account) and account.is_active and account.is_staff and has_second_factor(account)


def show_the_way(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
    """Who may not enter: strangers sign in first, staff sets up a second factor, for others there is nothing."""
    account = request.user
    if not isinstance(account, Account):
        return redirect_to_login(request.GET.get("next") or request.get_full_path())
    if not account.is_staff:
        raise Http404
    if may_enter(request):
        return redirect("admin:index")
    messages.warning(request, "Staff pages need a second factor. Set it up here, then open them again.")
    return redirect("mfa_activate_totp")
