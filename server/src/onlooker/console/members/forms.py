"""The form that invites people: many addresses at once, a role, and a viewer's sites."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.forms import PlainForm
from onlooker.console.members.invitations import ADDRESSES_AT_ONCE, LONGEST_ADDRESS, InvitationRefused, check_addresses
from onlooker.streams.models import MemberRole, Organisation, Site
from onlooker.streams.organisations import grantable_roles

SITES_TICKED = 50
"""With more sites, a list to scroll takes the place of boxes to tick."""
ROLE_TEXTS = {
    MemberRole.OWNER: _lazy("Owner: everything, payments and other owners included"),
    MemberRole.MANAGER: _lazy("Manager: streams, sites, analysts and viewers"),
    MemberRole.ANALYST: _lazy("Analyst: the numbers of all streams"),
    MemberRole.VIEWER: _lazy("Viewer: the numbers of the sites that you choose"),
}
NO_SITES = _lazy("Choose at least one site for a viewer.")
_SEPARATORS = re.compile(r"[\s,;]+")


class RoleForm(PlainForm):
    """A role, and for a viewer the sites."""

    role = forms.ChoiceField(widget=forms.RadioSelect)
    sites = forms.ModelMultipleChoiceField(
        Site.objects.none(),
        label=_lazy("Sites"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_lazy("For viewers only. The others see all sites."),
    )

    def __init__(self, organisation: Organisation, own_role: str, data: Any = None, **named: Any) -> None:
        super().__init__(data, **named)
        texts = [(role.value, ROLE_TEXTS[role]) for role in grantable_roles(own_role)]
        self.fields["role"] = forms.ChoiceField(label=_("Role"), widget=forms.RadioSelect, choices=texts)
        known = Site.objects.filter(organisation=organisation).order_by("name", "id")
        sites = self.fields["sites"]
        assert isinstance(sites, forms.ModelMultipleChoiceField)
        sites.queryset = known
        if known.count() > SITES_TICKED:
            sites.widget = forms.SelectMultiple(attrs={"size": 12})
            sites.widget.choices = sites.choices

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        if given.get("role") == MemberRole.VIEWER and not given.get("sites"):
            self.add_error("sites", NO_SITES)
        return given


class InvitationForm(RoleForm):
    """Addresses as a list that may be pasted, in lower case."""

    emails = forms.CharField(
        label=_lazy("E-mail addresses"),
        max_length=ADDRESSES_AT_ONCE * (LONGEST_ADDRESS + 2),
        widget=forms.Textarea(attrs={"rows": 4, "autocomplete": "off", "placeholder": "name@example.org"}),
        help_text=format_lazy(
            _lazy("One or several, up to {most}: on lines of their own, or with commas between them."),
            most=ADDRESSES_AT_ONCE,
        ),
    )
    field_order = ("emails", "role", "sites")

    def clean_emails(self) -> list[str]:
        """Each once, in the order in which they were given."""
        try:
            return check_addresses(_SEPARATORS.split(str(self.cleaned_data["emails"])))
        except InvitationRefused as refusal:
            raise ValidationError(str(refusal)) from None
