"""Tables of streams, access tokens, members, use, coverage and changes of state."""

import uuid
from typing import TypeAlias

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from onlooker.streams.state import State

LONGEST_RETENTION_DAYS = 3650
LONGEST_SILENCE_MINUTES = 7 * 24 * 60


class StreamKind(models.TextChoices):
    DEVELOPER = "developer"
    ENTERPRISE = "enterprise"


class Stream(models.Model):
    """One camera's way into the product, with its own credentials and numbers."""

    Kind: TypeAlias = StreamKind

    id = models.BigAutoField(primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="streams")
    """Nobody, once it is being removed with its owner's account."""
    name = models.CharField(max_length=100)
    client_id = models.UUIDField(default=uuid.uuid4, unique=True)
    kind = models.CharField(max_length=20, choices=StreamKind.choices, default=StreamKind.DEVELOPER)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    reads_age = models.BooleanField(default=True, db_default=True)
    reads_gender = models.BooleanField(default=True, db_default=True)
    reads_expression = models.BooleanField(default=False, db_default=False)
    """Off by default: the people in front of the camera must be told, and it is forbidden at work and in schools."""
    retention_days = models.PositiveSmallIntegerField(default=365, db_default=365)
    time_zone = models.TextField(default="UTC", db_default="UTC")
    silence_alert_minutes = models.PositiveSmallIntegerField(default=15, db_default=15)
    """After this long without a frame its owner gets an e-mail; 0: never."""
    removed_at = models.DateTimeField(null=True)
    """From then on nobody sees it, while what belongs to it is deleted."""

    class Meta:
        indexes = [
            models.Index(fields=["removed_at"], name="stream_removed", condition=models.Q(removed_at__isnull=False))
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(owner__isnull=False) | models.Q(removed_at__isnull=False), name="stream_has_owner"
            ),
            models.CheckConstraint(
                condition=models.Q(silence_alert_minutes__lte=LONGEST_SILENCE_MINUTES), name="silence_alert_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(retention_days__range=(1, LONGEST_RETENTION_DAYS)), name="retention_days_in_range"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AccessToken(models.Model):
    """The SHA-256 of an access token; the token itself is shown once and never stored."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="access_tokens")
    sha256 = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    is_trial = models.BooleanField(default=False, db_default=False)
    """Made by the page for trying a stream out: what is sent with it is never stored, and it opens nothing else."""

    def __str__(self) -> str:
        return f"token {self.pk} of {self.stream_id}"


class Member(models.Model):
    """An account that may see a stream's numbers, and nothing else of it."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="members", db_index=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "account"], name="one_membership_per_account")]

    def __str__(self) -> str:
        return f"{self.account_id} of {self.stream_id}"


class Usage(models.Model):
    """Computed video of a stream in one calendar month (UTC)."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="usage")
    month = models.DateField()
    video_s = models.FloatField(default=0)
    last_frame_at = models.DateTimeField(null=True)
    """When the newest of them was counted, to two seconds."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "month"], name="one_usage_per_month")]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} of {self.stream_id}"


class Coverage(models.Model):
    """Seconds of video that were computed for visits, by the frames' own time: without them nobody was looked for."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="coverage", db_index=False)
    slot_at = models.DateTimeField()
    """When the slot begins."""
    video_s = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "slot_at"], name="one_coverage_per_slot")]

    def __str__(self) -> str:
        return f"{self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class Refusal(models.Model):
    """How many frames meant for visits were refused in a slot, for one reason of the closed list."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="refusals", db_index=False)
    slot_at = models.DateTimeField()
    reason = models.TextField()
    frames = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "slot_at", "reason"], name="one_refusal_per_reason")]

    def __str__(self) -> str:
        return f"{self.reason} at {self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class StateChange(models.Model):
    """When a stream became able to compute, or unable; the newest one holds now."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="state_changes", db_index=False)
    at = models.DateTimeField(db_default=Now())
    state = models.TextField(choices=[(state.value, state.value) for state in State])

    class Meta:
        indexes = [models.Index(fields=["stream", "-id"], name="newest_state_of_stream")]

    def __str__(self) -> str:
        return f"{self.stream_id} {self.state} at {self.at:%Y-%m-%d %H:%M}"
