"""Tables of streams, access tokens and monthly use."""

import uuid

from django.conf import settings
from django.db import models


class Stream(models.Model):
    """One camera's way into the product, with its own credentials and numbers."""

    class Kind(models.TextChoices):
        DEVELOPER = "developer"
        ENTERPRISE = "enterprise"

    id = models.BigAutoField(primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="streams")
    name = models.CharField(max_length=100)
    client_id = models.UUIDField(default=uuid.uuid4, unique=True)
    kind = models.CharField(max_length=20, choices=Kind.choices, default=Kind.DEVELOPER)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class AccessToken(models.Model):
    """The SHA-256 of an access token; the token itself is shown once and kept nowhere."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="access_tokens")
    sha256 = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"token {self.pk} of {self.stream_id}"


class Usage(models.Model):
    """Computed video of a stream in one calendar month (UTC)."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="usage")
    month = models.DateField()
    video_s = models.FloatField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "month"], name="one_usage_per_month")]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} of {self.stream_id}"
