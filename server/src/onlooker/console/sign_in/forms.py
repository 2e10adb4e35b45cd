"""The form of an organisation's provider."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.languages.locale_text import translate
from onlooker.console.sign_in.models import LONGEST_GROUP, GroupRole, IdentityProvider
from onlooker.console.sign_in.openid import discover, open_session
from onlooker.console.sign_in.outbound import ProviderTroubleError
from onlooker.console.web.secret_key import seal
from onlooker.streams.models import MemberRole

MOST_GROUP_ROLES = 100
LONGEST_SECRET = 500
_LINE = re.compile(r"^(?P<group>.+?)\s*=\s*(?P<role>\w+)$")


class ProviderForm(forms.ModelForm):  # type: ignore[type-arg]
    """The provider's settings. Saving reads the provider's own document, so a wrong issuer is noticed at once."""

    secret = forms.CharField(
        label=_lazy("Client secret"),
        required=False,
        max_length=LONGEST_SECRET,
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_lazy("Stored encrypted, and never shown again. Leave it empty to keep the present one."),
    )
    groups = forms.CharField(
        label=_lazy("Roles by group"),
        required=False,
        max_length=MOST_GROUP_ROLES * (LONGEST_GROUP + 20),
        widget=forms.Textarea(
            # Translators: "manager" is typed as it is, in every language.
            attrs={"rows": 4, "spellcheck": "false", "placeholder": _lazy("Screens team = manager")}
        ),
        # Translators: owner, manager, analyst and viewer are typed as they are, in every language.
        help_text=_lazy(
            "A line for each group: its name, =, and owner, manager, analyst or viewer. The strongest counts."
        ),
    )

    class Meta:
        model = IdentityProvider
        fields = ("is_on", "address", "issuer", "client_id", "scopes", "groups_claim", "default_role", "further_hosts")
        labels = {
            "is_on": _lazy("Sign-in with this provider is on"),
            "address": _lazy("Address of your sign-in page"),
            "issuer": _lazy("Issuer"),
            "client_id": _lazy("Client id"),
            "scopes": _lazy("Scopes"),
            "groups_claim": _lazy("Claim with the groups"),
            "default_role": _lazy("Role for everyone else at the provider"),
            "further_hosts": _lazy("Further hosts of the provider"),
        }
        help_texts = {
            "address": _lazy("Such as acme, for /sign-in/acme/."),
            "issuer": _lazy("The provider's own address, such as https://login.example.org/realms/acme."),
            "default_role": _lazy("Empty: people with none of the groups are refused."),
            "further_hosts": _lazy(
                "Where the provider's tokens or keys are at other hosts, such as oauth2.googleapis.com."
            ),
        }
        widgets = {"further_hosts": forms.TextInput()}

    field_order = (
        *("is_on", "address", "issuer", "client_id", "secret", "groups", "default_role"),
        *("groups_claim", "scopes", "further_hosts"),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["default_role"].required = False
        self.fields["further_hosts"].required = False
        if self.instance.pk:
            rows = self.instance.group_roles.order_by("group")
            self.fields["groups"].initial = "\n".join(f"{row.group} = {row.role}" for row in rows)
        self._issuer_before = self.instance.issuer

    def clean_secret(self) -> str:
        secret = str(self.cleaned_data["secret"])
        if not secret and not self.instance.sealed_secret:
            raise ValidationError(_("Enter the secret that the provider gave you for this client."))
        return secret

    def clean_scopes(self) -> str:
        scopes = str(self.cleaned_data["scopes"]).split()
        return " ".join(dict.fromkeys(["openid", *scopes]))

    def clean_further_hosts(self) -> str:
        hosts = str(self.cleaned_data["further_hosts"]).lower().replace(",", " ").split()
        if any("/" in host for host in hosts):
            raise ValidationError(_("Enter names of hosts, without https:// and without a path."))
        return " ".join(hosts)

    def clean_groups(self) -> dict[str, str]:
        """Roles by group."""
        found: dict[str, str] = {}
        for line in filter(None, map(str.strip, str(self.cleaned_data["groups"]).splitlines())):
            match = _LINE.match(line)
            if match is None or match["role"].lower() not in MemberRole.values or len(match["group"]) > LONGEST_GROUP:
                said = _("“{line}” is not a group and a role. Write it like this: Screens team = manager")
                raise ValidationError(said.format(line=line[:60]))
            found[match["group"]] = match["role"].lower()
        if len(found) > MOST_GROUP_ROLES:
            said = _("At most {most} groups can have a role. Remove some.")
            raise ValidationError(said.format(most=MOST_GROUP_ROLES))
        return found

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("issuer") and "further_hosts" in cleaned:
            try:
                discover(open_session(cleaned["issuer"], cleaned["further_hosts"]), cleaned["issuer"])
            except ProviderTroubleError as trouble:
                self.add_error("issuer", translate(trouble))
        return cleaned

    @property
    def is_another_provider(self) -> bool:
        """Subjects of the one before mean other people now."""
        return self._issuer_before not in ("", self.cleaned_data["issuer"])

    def save_provider(self) -> IdentityProvider:
        provider: IdentityProvider = self.save(commit=False)
        if self.cleaned_data["secret"]:
            provider.sealed_secret = seal(self.cleaned_data["secret"])
        provider.save()
        wanted, known = self.cleaned_data["groups"], dict(provider.group_roles.values_list("group", "role"))
        if wanted != known:
            provider.group_roles.all().delete()
            rows = (GroupRole(provider=provider, group=group, role=role) for group, role in wanted.items())
            GroupRole.objects.bulk_create(rows)
        return provider
