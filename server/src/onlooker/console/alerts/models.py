"""The table of silent streams, and of what their owners were told."""

from django.db import models


class StreamSilence(models.Model):
    """A stream's latest silence. Kept for an hour after its owner was told, to limit the mails about flapping."""

    class SilenceReason(models.TextChoices):
        SILENT = "silent"
        """No frames arrive."""
        QUOTA = "quota"
        """Its monthly quota is used up."""

    stream = models.OneToOneField(
        "streams.Stream", primary_key=True, on_delete=models.CASCADE, related_name="silence", db_index=False
    )
    reason = models.TextField(choices=SilenceReason.choices)
    silent_since = models.DateTimeField()
    """When its last frame arrived."""
    begun_at = models.DateTimeField()
    """When we noticed."""
    told_at = models.DateTimeField(null=True)
    back_at = models.DateTimeField(null=True)
    """When a frame arrived again."""
    back_told_at = models.DateTimeField(null=True)
    tries = models.SmallIntegerField(default=0, db_default=0)
    try_at = models.DateTimeField()
    """When to send a mail that is due, or try again."""

    class Meta:
        db_table = "alerts_silence"
        indexes = [
            models.Index(
                fields=["try_at"],
                name="silence_mail_due",
                condition=models.Q(told_at=None) | models.Q(back_at__isnull=False, back_told_at=None),
            )
        ]

    def __str__(self) -> str:
        return f"{self.stream_id} since {self.silent_since:%Y-%m-%d %H:%M}"
