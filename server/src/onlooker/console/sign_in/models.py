"""Tables of organisations' OpenID providers: settings, groups, domains, and who signed in with them."""

from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _lazy

from onlooker.streams.models import MemberRole, Organisation

LONGEST_ADDRESS = 60
LONGEST_GROUP = 200
LONGEST_SUBJECT = 191
"""As in django-allauth's table of accounts at providers."""
SCOPES = "openid email profile"
_ADDRESS = RegexValidator(r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$", _lazy("Use lower-case letters, digits and hyphens."))


class IdentityProvider(models.Model):
    """An organisation's OpenID provider, as its owner set it up."""

    organisation = models.OneToOneField(Organisation, on_delete=models.CASCADE, related_name="identity_provider")
    address = models.CharField(max_length=LONGEST_ADDRESS, unique=True, validators=[_ADDRESS])
    """Of its sign-in page: /sign-in/ADDRESS/."""
    is_on = models.BooleanField(default=True)
    issuer = models.CharField(max_length=300)
    """Exactly as the provider's tokens name it."""
    client_id = models.CharField(max_length=191)
    sealed_secret = models.TextField()
    scopes = models.CharField(max_length=200, default=SCOPES)
    further_hosts = models.TextField(blank=True)
    """Beside the issuer's own, separated by blanks: some providers have their keys elsewhere."""
    groups_claim = models.CharField(max_length=100, default="groups")
    default_role = models.CharField(max_length=10, choices=MemberRole.choices, blank=True)
    """For people of the provider with none of the groups; empty: they are refused."""
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.issuer} of {self.organisation_id}"

    @property
    def provider_id(self) -> str:
        """Under which django-allauth knows it. A number is never used again."""
        return f"organisation-{self.pk}"


class GroupRole(models.Model):
    """People with this group at the provider have this role."""

    provider = models.ForeignKey(IdentityProvider, on_delete=models.CASCADE, related_name="group_roles", db_index=False)
    group = models.CharField(max_length=LONGEST_GROUP)
    role = models.CharField(max_length=10, choices=MemberRole.choices)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["provider", "group"], name="one_role_per_group")]

    def __str__(self) -> str:
        return f"{self.group}: {self.role}"


class ProvenDomain(models.Model):
    """A domain of e-mail addresses that this server's operator knows to be the organisation's."""

    domain = models.CharField(max_length=253, primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="proven_domains")

    def __str__(self) -> str:
        return self.domain


class ProviderIdentity(models.Model):
    """What is known of somebody who signed in with the provider."""

    social_account = models.OneToOneField(
        "socialaccount.SocialAccount", on_delete=models.CASCADE, primary_key=True, related_name="identity"
    )
    provider = models.ForeignKey(IdentityProvider, on_delete=models.CASCADE, related_name="identities")
    role = models.CharField(max_length=10, choices=MemberRole.choices, blank=True)
    """By the groups of the last sign-in; empty where groups decide nothing."""
    is_admitted = models.BooleanField(default=False)
    """Whether it was given a membership. If that is gone, an owner of the organisation ended it."""

    def __str__(self) -> str:
        return f"{self.pk} at {self.provider_id}"
