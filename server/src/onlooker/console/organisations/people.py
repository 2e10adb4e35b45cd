"""Members: another role or other sites, removal, and leaving. Ownership is handed over by naming another owner."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.billing.subscriptions import check_payer
from onlooker.console.languages.locale_text import translate
from onlooker.console.members.forms import RoleForm
from onlooker.console.streams.access import own_membership
from onlooker.streams.models import MemberRole, Membership
from onlooker.streams.organisations import MANAGERS, RefusedError, change_member, grantable_roles, remove_member

NEW_ROLES = {
    MemberRole.OWNER: _lazy("{email} is now an owner."),
    MemberRole.MANAGER: _lazy("{email} is now a manager."),
    MemberRole.ANALYST: _lazy("{email} is now an analyst."),
    MemberRole.VIEWER: _lazy("{email} is now a viewer."),
}


def _changeable(own: Membership, membership_id: int) -> Membership:
    """A member whose role is one that the person may give, or Http404."""
    members = Membership.objects.filter(organisation=own.organisation_id, role__in=grantable_roles(own.role))
    return get_object_or_404(members.select_related("account", "organisation"), pk=membership_id)


@signed_in("GET", "HEAD", "POST")
def change_membership(request: PersonRequest, organisation_id: int, membership_id: int) -> HttpResponse:
    own = own_membership(request.user, organisation_id, *MANAGERS)
    member = _changeable(own, membership_id)
    initial = {"role": member.role, "sites": list(member.site_links.values_list("site", flat=True))}
    form = RoleForm(own.organisation, own.role, request.POST or None, initial=initial)
    if form.is_valid() and _change(form, member, request.user):
        messages.success(request, NEW_ROLES[MemberRole(member.role)].format(email=member.account.email))
        return redirect("organisation", organisation_id)
    return render(
        request, "organisations/member.html", {"organisation": own.organisation, "member": member, "form": form}
    )


def _change(form: RoleForm, member: Membership, by: Account) -> bool:
    role: Any = form.cleaned_data["role"]
    try:
        if role != MemberRole.OWNER:
            check_payer(member)
        with acting_as(account_actor(by.pk)):
            change_member(member, role, list(form.cleaned_data["sites"]))
    except RefusedError as error:
        form.add_error("role", translate(error))
        return False
    return True


@signed_in("POST")
def remove_membership(request: PersonRequest, organisation_id: int, membership_id: int) -> HttpResponse:
    own = own_membership(request.user, organisation_id, *MANAGERS)
    member = _changeable(own, membership_id)
    if _remove(request, member):
        messages.success(request, _("{email} is no longer a member.").format(email=member.account.email))
    return redirect("organisation", organisation_id)


@signed_in("GET", "HEAD", "POST")
def leave_organisation(request: PersonRequest, organisation_id: int) -> HttpResponse:
    own = own_membership(request.user, organisation_id)
    if request.method != "POST":
        return render(request, "organisations/leave.html", {"organisation": own.organisation})
    if not _remove(request, own):
        return redirect("organisation", organisation_id)
    messages.success(request, _("You have left {name}.").format(name=own.organisation.name))
    return redirect("streams")


def _remove(request: PersonRequest, member: Membership) -> bool:
    try:
        check_payer(member)
        with acting_as(account_actor(request.user.pk)):
            remove_member(member)
    except RefusedError as error:
        messages.error(request, translate(error))
        return False
    return True
