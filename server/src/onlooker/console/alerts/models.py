"""The tables of silent streams, blind cameras and unusual days, and of what their owners were told."""

from django.db import models

MAIL_DUE = models.Q(told_at=None) | models.Q(back_at__isnull=False, back_told_at=None)


class OwnerAlert(models.Model):
    """Two mails at most: that something is wrong, and that it is over.

    Kept for an hour after the first one, to limit the mails about flapping.
    """

    begun_at = models.DateTimeField()
    """When we noticed."""
    told_at = models.DateTimeField(null=True)
    back_at = models.DateTimeField(null=True)
    """When it was over."""
    back_told_at = models.DateTimeField(null=True)
    tries = models.SmallIntegerField(default=0, db_default=0)
    try_at = models.DateTimeField()
    """When to send a mail that is due, or try again."""

    class Meta:
        abstract = True


class StreamSilence(OwnerAlert):
    """A stream's latest silence, until a frame arrived again."""

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

    class Meta:
        db_table = "alerts_silence"
        indexes = [models.Index(fields=["try_at"], name="silence_mail_due", condition=MAIL_DUE)]

    def __str__(self) -> str:
        return f"{self.stream_id} since {self.silent_since:%Y-%m-%d %H:%M}"


class BlindCamera(OwnerAlert):
    """The latest time in which a stream's camera saw nothing, until it saw again for a minute."""

    stream = models.OneToOneField(
        "streams.Stream", primary_key=True, on_delete=models.CASCADE, related_name="blind_camera", db_index=False
    )
    reason = models.TextField()
    """A fault of its newest frames or a state of its agent, when we noticed."""
    blind_since = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["try_at"], name="blind_mail_due", condition=MAIL_DUE)]

    def __str__(self) -> str:
        return f"{self.stream_id} {self.reason} since {self.blind_since:%Y-%m-%d %H:%M}"


class JudgedHour(models.Model):
    """Up to which hour a stream's numbers were compared with what is usual."""

    stream = models.OneToOneField(
        "streams.Stream", primary_key=True, on_delete=models.CASCADE, related_name="judged_hour", db_index=False
    )
    judged_until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.stream_id} until {self.judged_until:%Y-%m-%d %H:%M}"


class UnusualDay(models.Model):
    """A local day on which far fewer or far more people came than usual. One mail a day at most.

    Days in a row on which it is so in the same direction are told of on the first one, and again each week.
    """

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE, related_name="unusual_days", db_index=False)
    day = models.DateField()
    first_day = models.DateField()
    """Of the days in a row."""
    metric = models.TextField()
    is_more = models.BooleanField()
    from_at = models.DateTimeField()
    to_at = models.DateTimeField()
    hours = models.SmallIntegerField()
    """How many in between were watched, and are counted."""
    counted = models.IntegerField()
    usual_low = models.IntegerField()
    usual = models.IntegerField()
    usual_high = models.IntegerField()
    begun_at = models.DateTimeField()
    """When we noticed."""
    told_at = models.DateTimeField(null=True)
    tries = models.SmallIntegerField(default=0, db_default=0)
    try_at = models.DateTimeField(null=True)
    """When to send the mail, or try again; None where none is to be sent."""
    back_at = None
    """There is no second mail."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "day"], name="one_unusual_day")]
        indexes = [
            models.Index(
                fields=["try_at"], name="unusual_mail_due", condition=models.Q(told_at=None, try_at__isnull=False)
            )
        ]

    def __str__(self) -> str:
        return f"{self.stream_id} on {self.day:%Y-%m-%d}"
