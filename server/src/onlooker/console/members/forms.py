"""The form that invites people: many addresses at once, a role, and a viewer's sites."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from onlooker.console.forms import PlainForm
from onlooker.streams.models import MemberRole, Organisation, Site
from onlooker.streams.organisations import is_higher

ADDRESSES_AT_ONCE = 50
"""Their mails are sent before the page answers."""
LONGEST_ADDRESS = 254
SITES_TICKED = 50
"""With more sites, a list to scroll takes the place of boxes to tick."""
ROLE_TEXTS = {
    MemberRole.OWNER: "Owner: everything, payments and other owners included",
    MemberRole.MANAGER: "Manager: streams, sites, analysts and viewers",
    MemberRole.ANALYST: "Analyst: the numbers of all streams",
    MemberRole.VIEWER: "Viewer: the numbers of the sites that you choose",
}
NO_SITES = "Choose at least one site for a viewer."
_SEPARATORS = re.compile(r"[\s,;]+")


def grantable_roles(own: str) -> list[MemberRole]:
    """Owners give every role, managers those below their own."""
    return [role for role in MemberRole if own == MemberRole.OWNER or is_higher(own, role)]


class RoleForm(PlainForm):
    """A role, and for a viewer the sites."""

    role = forms.ChoiceField(widget=forms.RadioSelect)
    sites = forms.ModelMultipleChoiceField(
        Site.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="For viewers only. The others see all sites.",
    )

    def __init__(self, organisation: Organisation, own_role: str, data: Any = None, **named: Any) -> None:
        super().__init__(data, **named)
        texts = [(role.value, ROLE_TEXTS[role]) for role in grantable_roles(own_role)]
        self.fields["role"] = forms.ChoiceField(widget=forms.RadioSelect, choices=texts)
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
        label="E-mail addresses",
        max_length=ADDRESSES_AT_ONCE * (LONGEST_ADDRESS + 2),
        widget=forms.Textarea(attrs={"rows": 4, "autocomplete": "off", "placeholder": "name@example.org"}),
        help_text=f"One or several, up to {ADDRESSES_AT_ONCE}: on lines of their own, or with commas between them.",
    )
    field_order = ("emails", "role", "sites")

    def clean_emails(self) -> list[str]:
        """Each once, in the order in which they were given."""
        given = [part.lower() for part in _SEPARATORS.split(str(self.cleaned_data["emails"])) if part]
        emails = list(dict.fromkeys(given))
        wrong = [email for email in emails if not _is_address(email)]
        if wrong:
            raise ValidationError(f"This is not an e-mail address: {wrong[0][:100]}")
        if not emails or len(emails) > ADDRESSES_AT_ONCE:
            raise ValidationError(f"Enter 1 to {ADDRESSES_AT_ONCE} addresses.")
        return emails


def _is_address(email: str) -> bool:
    try:
        validate_email(email)
    except ValidationError:
        return False
    return len(email) <= LONGEST_ADDRESS
