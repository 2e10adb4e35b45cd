"""The staff site: Django's admin, for staff with a second factor, and the tables it shows."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.second_factor import has_second_factor
from onlooker.console.members.models import Invitation
from onlooker.console.staff.accounts import AccountAdmin
from onlooker.console.staff.jobs import JobAdmin
from onlooker.console.staff.names import translate_names
from onlooker.console.staff.streams import (
    InvitationAdmin,
    MembershipAdmin,
    OrganisationAdmin,
    StreamAdmin,
    UsageAdmin,
)
from onlooker.console.staff.workers import WARNING, WorkerAdmin, live_workers
from onlooker.gateway.models import Job, ListedWorker
from onlooker.streams.models import Membership, Organisation, Stream, Usage

MODEL_ADMINS = {
    Account: AccountAdmin,
    Stream: StreamAdmin,
    Usage: UsageAdmin,
    Organisation: OrganisationAdmin,
    Membership: MembershipAdmin,
    Invitation: InvitationAdmin,
    Job: JobAdmin,
    ListedWorker: WorkerAdmin,
}


class StaffSite(admin.AdminSite):
    """Staff see all of it; there are no finer permissions. Sign-in and passwords are handled by the account pages."""

    site_header = gettext_lazy("Onlooker: staff")
    site_title = gettext_lazy("Onlooker: staff")
    index_title = gettext_lazy("Accounts, streams, jobs and workers")
    site_url = "/streams/"

    def has_permission(self, request: HttpRequest) -> bool:
        account = request.user
        if not isinstance(account, Account) or account.reaches_only is not None:  # no provider signs staff in
            return False
        return account.is_active and account.is_staff and has_second_factor(account)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Strangers sign in first, staff set up a second factor; for anyone else the site does not exist."""
        account = request.user
        if not isinstance(account, Account):
            return redirect_to_login(request.GET.get("next") or request.get_full_path())
        if not account.is_staff:
            raise Http404
        if self.has_permission(request):
            return redirect("admin:index")
        if account.reaches_only is not None:
            return redirect("sign-in-closed")
        warning = _("The staff pages require a second factor. Set one up here, then open them again.")
        messages.warning(request, warning)
        return redirect("mfa_activate_totp")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if self.has_permission(request) and live_workers().filter(confined=False).exists():
            messages.warning(request, WARNING)
        return super().index(request, extra_context)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("account_change_password")

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("account_logout")


def register_models() -> None:
    """These tables, and none that an installed app registered by itself."""
    for model in list(admin.site._registry):
        admin.site.unregister(model)  # second factors, sessions, groups: secrets, or of no use here
    for model, model_admin in MODEL_ADMINS.items():
        translate_names(model)
        admin.site.register(model, model_admin)
