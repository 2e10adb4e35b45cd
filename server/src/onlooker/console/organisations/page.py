"""An organisation's page: its people, invitations and sites; what its owners may change; its end."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.accounts.second_factor import has_second_factor
from onlooker.console.forms import PlainForm
from onlooker.console.members.invitations import open_invitations_of
from onlooker.console.streams.access import memberships_of, own_membership
from onlooker.console.streams.forms import NameField
from onlooker.streams.models import MemberRole, Organisation, Site
from onlooker.streams.options import LONGEST_NAME, is_same_name
from onlooker.streams.organisations import MANAGERS, grantable_roles, remove_organisation, set_organisation

LISTED = 100
"""Members, invitations and sites on a page."""
OWN_FACTOR_FIRST = _lazy("Set up your own second factor first, under Account: without one you would lock yourself out.")


class OrganisationForm(PlainForm):
    """What an organisation is called, and whether its members need a second factor."""

    name = NameField()
    requires_second_factor = forms.BooleanField(
        required=False,
        label=_lazy("Members need a second factor"),
        help_text=_lazy("Members without one see nothing of the organisation until they have set one up."),
    )

    def __init__(self, organisation: Organisation, data: Any = None) -> None:
        initial = {"name": organisation.name, "requires_second_factor": organisation.requires_second_factor}
        super().__init__(data, initial=initial)
        self.fields["name"].label = _("Name")
        self.fields["name"].help_text = _("For example, that of the company.")


class OrganisationRemovalForm(PlainForm):
    """The organisation's name, typed."""

    name = forms.CharField(
        label=_lazy("Name of the organisation"), widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, organisation: Organisation, data: Any = None) -> None:
        super().__init__(data)
        self._organisation = organisation

    def clean_name(self) -> str:
        typed: str = self.cleaned_data["name"]
        if not is_same_name(typed, self._organisation.name):
            raise forms.ValidationError(_("That is not the organisation's name. Nothing was deleted."))
        return typed


@signed_in("GET", "HEAD")
def show_organisations(request: PersonRequest) -> HttpResponse:
    """A choice where there are several; without any, the overview of streams leads to the first."""
    rows = memberships_of(request.user).select_related("organisation").order_by("organisation__name", "id")
    memberships = list(rows)
    if len(memberships) == 1:
        return redirect("organisation", memberships[0].organisation_id)
    return render(request, "organisations/list.html", {"memberships": memberships})


@signed_in("GET", "HEAD")
def show_organisation(request: PersonRequest, organisation_id: int) -> HttpResponse:
    """For those who manage it; analysts and viewers see their own part."""
    own = own_membership(request.user, organisation_id)
    context: dict[str, Any] = {"organisation": own.organisation, "own": own, "role": own.role}
    if own.role not in MANAGERS:
        context["sites"] = own.site_links.order_by("site__name").values_list("site__name", flat=True)
        return render(request, "organisations/membership.html", context)
    words = request.GET.get("find", "").replace("\0", "").strip()[:LONGEST_NAME]
    invitations = open_invitations_of(own.organisation).filter(email__icontains=words)
    context |= {
        "words": words,
        "members": _some(_members(own.organisation, words)),
        "invitations": _some(invitations.prefetch_related("site_links__site")),
        "sites": _some(_sites(own.organisation, words)),
        "roles": {role.value for role in grantable_roles(own.role)},
        "is_owner": own.role == MemberRole.OWNER,
    }
    return render(request, "organisations/organisation.html", context)


@dataclass(frozen=True)
class ListedRows:
    """The first of many rows; the others are found by words."""

    rows: list[Any]
    are_more: bool


def _some(rows: QuerySet[Any]) -> ListedRows:
    found = list(rows[: LISTED + 1])
    return ListedRows(found[:LISTED], len(found) > LISTED)


def _members(organisation: Organisation, words: str) -> QuerySet[Any]:
    rows = organisation.memberships.filter(account__email__icontains=words)
    return rows.select_related("account").prefetch_related("site_links__site").order_by("account__email")


def _sites(organisation: Organisation, words: str) -> QuerySet[Any]:
    rows = Site.objects.filter(organisation=organisation, name__icontains=words)
    return rows.annotate(live=Count("streams", filter=Q(streams__removed_at=None))).order_by("name", "id")


@signed_in("GET", "HEAD", "POST")
def change_organisation(request: PersonRequest, organisation_id: int) -> HttpResponse:
    organisation = own_membership(request.user, organisation_id, MemberRole.OWNER).organisation
    form = OrganisationForm(organisation, request.POST or None)
    if form.is_valid() and form.cleaned_data["requires_second_factor"] and not has_second_factor(request.user):
        form.add_error("requires_second_factor", OWN_FACTOR_FIRST)
    if not form.is_valid():
        return render(request, "organisations/settings.html", {"organisation": organisation, "form": form})
    with acting_as(account_actor(request.user.pk)):
        set_organisation(organisation, form.cleaned_data)
    messages.success(request, _("Settings saved."))
    return redirect("organisation", organisation_id)


@signed_in("GET", "HEAD", "POST")
def show_organisation_removal(request: PersonRequest, organisation_id: int) -> HttpResponse:
    organisation = own_membership(request.user, organisation_id, MemberRole.OWNER).organisation
    form = OrganisationRemovalForm(organisation, request.POST or None)
    if not form.is_valid():
        context = {
            "organisation": organisation,
            "form": form,
            "stream_count": organisation.streams.filter(removed_at=None).count(),
            "others": organisation.memberships.exclude(account=request.user).count(),
        }
        return render(request, "organisations/remove.html", context)
    name = organisation.name
    with acting_as(account_actor(request.user.pk)):
        remove_organisation(organisation)
    text = _("{name} was deleted. The visits and blobs of its streams are being deleted now.")
    messages.success(request, text.format(name=name))
    return redirect("streams")
