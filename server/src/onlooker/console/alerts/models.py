"""The table of streams that went silent, and what their owners were told."""

from django.db import models


class Silence(models.Model):
    """One stream's newest silence; it goes an hour after its owner was told, so that a flapping one stays bearable."""

    class Reason(models.TextChoices):
        SILENT = "silent"
        """No frame comes."""
        QUOTA = "quota"
        """Frames may come, but its month is used up."""

    stream = models.OneToOneField(
        "streams.Stream", primary_key=True, on_delete=models.CASCADE, related_name="silence", db_index=False
    )
    reason = models.TextField(choices=Reason.choices)
    silent_since = models.DateTimeField()
    """When its last frame came."""
    begun_at = models.DateTimeField()
    """When we noticed."""
    told_at = models.DateTimeField(null=True)
    back_at = models.DateTimeField(null=True)
    """A frame that came afterwards."""
    back_told_at = models.DateTimeField(null=True)
    tries = models.SmallIntegerField(default=0, db_default=0)
    try_at = models.DateTimeField()
    """When a mail that is due is tried, or tried again."""

    class Meta:
        indexes = [
            models.Index(
                fields=["try_at"],
                name="silence_mail_due",
                condition=models.Q(told_at=None) | models.Q(back_at__isnull=False, back_told_at=None),
            )
        ]

    def __str__(self) -> str:
        return f"{self.stream_id} since {self.silent_since:%Y-%m-%d %H:%M}"
