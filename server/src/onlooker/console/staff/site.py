"""The staff's site, behind the door that accounts have for it."""

from typing import Any

from django.http import HttpRequest
from django.shortcuts import redirect

from onlooker.console.accounts.staff import GuardedSite


class StaffSite(GuardedSite):
    """Who is staff sees all of it; there are no finer permissions. Passwords are changed where everybody does."""

    site_header = "Onlooker: staff"
    site_title = "Onlooker: staff"
    index_title = "Accounts, streams and jobs"
    site_url = "/streams/"

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("account_change_password")

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("account_logout")
