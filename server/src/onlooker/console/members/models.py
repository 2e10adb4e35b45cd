"""The table of open invitations."""

import uuid
from datetime import datetime, timedelta

from django.db import models
from django.utils import timezone

INVITATION_LIFE = timedelta(days=7)


def end_of_life() -> datetime:
    return timezone.now() + INVITATION_LIFE


class Invitation(models.Model):
    """An e-mail address invited to view a stream; deleted once it is answered or revoked."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    """122 random bits: only the addressee can know the link."""
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE, related_name="invitations", db_index=False)
    email = models.EmailField(max_length=254)
    """In lower case."""
    invited_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(default=end_of_life)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "email"], name="one_invitation_per_address")]
        indexes = [
            models.Index(fields=["email"], name="invitation_email"),
            models.Index(fields=["expires_at"], name="invitation_expiry"),
        ]

    def __str__(self) -> str:
        return f"{self.email} to {self.stream_id}"
