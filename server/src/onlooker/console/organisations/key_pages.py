"""The pages of an organisation's keys: the list, creating one, its text that is shown once, revoking."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext, pgettext_lazy

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.forms import PlainForm
from onlooker.console.languages.locale_text import translate, write_count
from onlooker.console.streams.access import own_membership
from onlooker.console.streams.forms import NameField
from onlooker.keys.keys import (
    KEPT,
    REACH_AT_MOST,
    NewKey,
    create_key,
    is_live,
    key_roles,
    keys_of,
    live_keys,
    may_handle,
    revoke_key,
)
from onlooker.keys.models import OrganisationKey, Scope
from onlooker.streams.models import MemberRole, Membership, Organisation, Site, Stream
from onlooker.streams.organisations import MANAGERS, RefusedError

PAST_LISTED = 50
NAMES_LISTED = 5
"""Of sites and streams, in a row of the list."""
CHOICES_OFFERED = 200
"""Streams to choose from; with more, their Logins are asked for."""
LARGEST_NUMBER = 2**63
LIVES = {
    "30": _lazy("30 days"),
    "90": _lazy("90 days"),
    "365": _lazy("A year"),
    "": _lazy("No end: until it is revoked"),
}
SCOPE_TEXTS = {
    Scope.NUMBERS: _lazy("Read numbers: at the data endpoint, without a stream's Password"),
    Scope.MANAGE: _lazy("Manage: streams, sites, devices and people, at the management interface"),
    Scope.ENROL: _lazy("Enrol devices: create enrolment codes, and follow the devices that come with them"),
    Scope.FRAMES: _lazy("Send frames: a Password of each stream that the key reaches"),
}
REACHES = {"all": _lazy("All streams, also those that come later"), "some": _lazy("Only the sites and streams below")}
ROLE_TEXTS = {
    MemberRole.MANAGER: _lazy("Manager: streams, sites, analysts and viewers"),
    MemberRole.OWNER: _lazy("Owner: all of that, owners and the organisation itself"),
}


class LoginsField(forms.CharField):
    """Streams of an organisation by their Logins, as a list that may be pasted."""

    def __init__(self, organisation: Organisation) -> None:
        super().__init__(required=False, max_length=40 * REACH_AT_MOST, widget=forms.Textarea(attrs={"rows": 4}))
        self.label = _("Streams")
        self.help_text = _("By their Logins, each on a line of its own.")
        self._organisation = organisation

    def clean(self, value: Any) -> list[Stream]:
        try:
            wanted = {UUID(one) for one in super().clean(value).split()}
        except ValueError:
            raise forms.ValidationError(_("This is not a Login. The settings of a stream show it.")) from None
        found = Stream.objects.filter(organisation=self._organisation, removed_at=None, client_id__in=wanted)
        if len(found) < len(wanted):
            raise forms.ValidationError(_("A stream with one of these Logins is not in this organisation."))
        return list(found)


class KeyForm(PlainForm):
    """What a key opens, for which streams, as what it acts, and how long."""

    name = NameField()
    scopes = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        choices=[(scope.value, text) for scope, text in SCOPE_TEXTS.items()],
        label=_lazy("What it may do"),
    )
    reach = forms.ChoiceField(
        widget=forms.RadioSelect,
        choices=list(REACHES.items()),
        initial="all",
        label=pgettext_lazy("which streams", "For"),
    )
    sites = forms.ModelMultipleChoiceField(Site.objects.none(), required=False)
    days = forms.ChoiceField(
        widget=forms.RadioSelect,
        choices=list(LIVES.items()),
        initial="365",
        required=False,
        label=_lazy("It ends after"),
    )

    field_order = ("name", "scopes", "role", "reach", "sites", "streams", "days")

    def __init__(self, own: Membership, data: Any = None) -> None:
        super().__init__(data)
        self.fields["name"].label = _("Name")
        self.fields["name"].help_text = _("What will use it, for example Dashboard of the head office.")
        sites, streams = own.organisation.sites.order_by("name", "id"), own.organisation.streams.filter(removed_at=None)
        self.fields["sites"] = _chosen_of(
            sites, _("Sites"), _("All streams that stand there, also those that come later.")
        )
        if streams.count() > CHOICES_OFFERED:
            self.fields["streams"] = LoginsField(own.organisation)
        else:
            self.fields["streams"] = _chosen_of(streams.order_by("name", "id"), _("Streams"), _("Wherever they stand."))
        roles = key_roles(own.role)
        if len(roles) > 1:
            self.fields["role"] = forms.ChoiceField(
                widget=forms.RadioSelect,
                choices=[(role.value, ROLE_TEXTS[role]) for role in roles],
                initial=roles[0],
                required=False,
                label=_("A key that manages acts as"),
            )
        self.order_fields(self.field_order)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        has_named = bool(given.get("sites") or given.get("streams"))
        if given.get("reach") == "some" and not has_named and not self.errors:
            self.add_error("sites", _("Choose at least one site or stream, or let the key reach all."))
        if given.get("reach") == "all" and has_named:
            self.add_error("reach", _("You chose sites or streams below. Choose them alone, or none of them."))
        return given

    @property
    def chosen(self) -> dict[str, Any]:
        given = self.cleaned_data
        return {
            "sites": list(given["sites"]),
            "streams": list(given["streams"]),
            "life": timedelta(days=int(given["days"])) if given["days"] else None,
            "role": given.get("role") or MemberRole.MANAGER,
        }


def _chosen_of(rows: Any, label: str, help_text: str) -> Any:
    widget = forms.SelectMultiple(attrs={"size": min(max(rows.count(), 2), 12)})
    return forms.ModelMultipleChoiceField(rows, required=False, widget=widget, label=label, help_text=help_text)


@dataclass(frozen=True)
class ListedKey:
    """A key as the list shows it."""

    key: OrganisationKey
    reach: str
    has_creator_left: bool
    may_revoke: bool


@signed_in("GET", "HEAD")
def list_keys(request: PersonRequest, organisation_id: int) -> HttpResponse:
    own = own_membership(request.user, organisation_id, *MANAGERS)
    known, live = keys_of(own.organisation).select_related("created_by"), live_keys()
    context = {
        "organisation": own.organisation,
        "keys": _describe(known.filter(pk__in=live), own),
        "past": _describe(known.exclude(pk__in=live)[:PAST_LISTED], own),
        "past_days": KEPT.days,
    }
    return render(request, "organisations/keys.html", context)


def _describe(keys: Iterable[OrganisationKey], own: Membership) -> list[ListedKey]:
    found = list(keys)
    members = Membership.objects.filter(
        organisation=own.organisation_id, account__in={key.created_by_id for key in found}
    )
    present = set(members.values_list("account", flat=True))
    return [
        ListedKey(
            key,
            reach=_reach(key),
            has_creator_left=key.created_by_id is not None and key.created_by_id not in present,
            may_revoke=is_live(key) and may_handle(own.role, key),
        )
        for key in found
    ]


def _reach(key: OrganisationKey) -> str:
    if key.reaches_all:
        return _("all streams")
    sites = key.site_links.order_by("site__name").values_list("site__name", flat=True)
    streams = key.stream_links.filter(stream__removed_at=None).order_by("stream__name")
    names = [*sites, *streams.values_list("stream__name", flat=True)]
    if not names:
        return _("nothing: its sites and streams are gone")
    shown, more = ", ".join(names[:NAMES_LISTED]), len(names) - NAMES_LISTED
    if more <= 0:
        return shown
    text = ngettext("{names} and {more} more", "{names} and {more} more", more)
    return text.format(names=shown, more=write_count(more))


@signed_in("GET", "HEAD", "POST")
def create_organisation_key(request: PersonRequest, organisation_id: int) -> HttpResponse:
    own = own_membership(request.user, organisation_id, *MANAGERS)
    form = KeyForm(own, request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        try:
            with acting_as(account_actor(request.user.pk)):
                made = create_key(own.organisation, given["name"], given["scopes"], **form.chosen, by=request.user)
            return _show_key(request, made)
        except RefusedError as error:
            form.add_error(None, translate(error))
    return render(request, "organisations/new_key.html", {"organisation": own.organisation, "form": form})


def _show_key(request: PersonRequest, made: NewKey) -> HttpResponse:
    """The answer to the POST that created it. A reload leads to the list, and no cache keeps this one."""
    context = {"organisation": made.key.organisation, "key": made.key, "text": made.text, "reach": _reach(made.key)}
    answer = render(request, "organisations/key.html", context)
    answer["Cache-Control"] = "no-store"
    return answer


@signed_in("GET", "HEAD", "POST")
def revoke_organisation_key(request: PersonRequest, organisation_id: int, key_id: int) -> HttpResponse:
    """Asks first. A key with more rights than the person has does not exist here."""
    own = own_membership(request.user, organisation_id, *MANAGERS)
    rows = live_keys().filter(organisation=own.organisation_id, role__in=key_roles(own.role))
    key = get_object_or_404(rows, pk=min(key_id, LARGEST_NUMBER - 1))
    if request.method != "POST":
        context = {"organisation": own.organisation, "key": key, "reach": _reach(key)}
        return render(request, "organisations/revoke_key.html", context)
    with acting_as(account_actor(request.user.pk)):
        revoke_key(key)
    messages.success(request, _("Key {name} is revoked.").format(name=key.name))
    return redirect("organisation-keys", organisation_id)
