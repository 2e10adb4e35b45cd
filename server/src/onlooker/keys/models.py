"""Tables of keys: who has which scopes, for which sites and streams, until when."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from onlooker.keys.key_text import BEGINNING
from onlooker.streams.models import MemberRole

LONGEST_KEY_NAME = 100
KEY_ROLES = (MemberRole.MANAGER, MemberRole.OWNER)


class Scope(models.TextChoices):
    """What a key opens; a key has one or several."""

    NUMBERS = "numbers"
    """Reading the numbers of its streams."""
    MANAGE = "manage"
    """The management interface, with the rights of the key's role."""
    ENROL = "enrol"
    """Enrolment codes, and the devices that came with them."""
    FRAMES = "frames"
    """Sending for its streams: a Password of each."""


class OrganisationKey(models.Model):
    """A key. Its text is shown once and never stored."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey("streams.Organisation", on_delete=models.CASCADE, related_name="keys")
    name = models.CharField(max_length=LONGEST_KEY_NAME)
    beginning = models.CharField(max_length=BEGINNING)
    sha256 = models.BinaryField(max_length=32, unique=True)
    scopes = ArrayField(models.TextField(choices=Scope.choices))
    role = models.CharField(max_length=10, choices=[(role.value, role.label) for role in KEY_ROLES])
    """What it acts as where it manages. The role that its creator gets later does not change it."""
    reaches_all = models.BooleanField()
    """Else the sites and streams below alone: none of them, once they are gone."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="created_keys"
    )
    """NULL: at the command line, by another key, or by an account that is gone."""
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)
    """To a minute."""
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["revoked_at"], name="key_revoked", condition=models.Q(revoked_at__isnull=False))
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=KEY_ROLES), name="key_role_known"),
            models.CheckConstraint(
                condition=models.Q(scopes__contained_by=list(Scope.values)) & models.Q(scopes__len__gte=1),
                name="key_scopes_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.beginning}...)"


class KeySite(models.Model):
    """A site whose streams a key reaches."""

    id = models.BigAutoField(primary_key=True)
    key = models.ForeignKey(OrganisationKey, on_delete=models.CASCADE, related_name="site_links", db_index=False)
    site = models.ForeignKey("streams.Site", on_delete=models.CASCADE, related_name="key_links")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "site"], name="one_link_per_key_and_site")]

    def __str__(self) -> str:
        return f"{self.site_id} for key {self.key_id}"


class KeyStream(models.Model):
    """A stream that a key reaches, wherever it stands."""

    id = models.BigAutoField(primary_key=True)
    key = models.ForeignKey(OrganisationKey, on_delete=models.CASCADE, related_name="stream_links", db_index=False)
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE, related_name="key_links")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "stream"], name="one_link_per_key_and_stream")]

    def __str__(self) -> str:
        return f"{self.stream_id} for key {self.key_id}"
