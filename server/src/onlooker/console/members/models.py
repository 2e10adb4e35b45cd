"""The tables of open invitations."""

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from onlooker.streams.models import MemberRole, Organisation, Site

INVITATION_LIFE = timedelta(days=7)


def end_of_life() -> datetime:
    return timezone.now() + INVITATION_LIFE


class Invitation(models.Model):
    """An e-mail address invited to an organisation; deleted once it is answered or revoked.

    An address has one at a time. Those that a release before sent for single streams may be several.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    """122 random bits: only the addressee can know the link."""
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(max_length=254)
    """In lower case."""
    role = models.CharField(max_length=10, choices=MemberRole.choices)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    invited_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(default=end_of_life)

    class Meta:
        indexes = [
            models.Index(fields=["email"], name="invitation_email"),
            models.Index(fields=["expires_at"], name="invitation_expiry"),
        ]

    @property
    def sender(self) -> str:
        """Who invites, as a mail names them; a key has no address."""
        return self.invited_by.email if self.invited_by else self.organisation.name

    def __str__(self) -> str:
        return f"{self.email} to {self.organisation_id} as {self.role}"


class InvitationSite(models.Model):
    """A site that an invited viewer will see."""

    id = models.BigAutoField(primary_key=True)
    invitation = models.ForeignKey(Invitation, on_delete=models.CASCADE, related_name="site_links", db_index=False)
    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["invitation", "site"], name="one_invitation_link_per_site")]

    def __str__(self) -> str:
        return f"{self.site_id} for {self.invitation_id}"
