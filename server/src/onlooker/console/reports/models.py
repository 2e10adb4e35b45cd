"""Tables of what of the numbers leaves the console: read-only links, and reports by e-mail."""

from datetime import date

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

LONGEST_LABEL = 80
LONGEST_ORIGIN = 200


class SavedView(models.Model):
    """What is shown, and over which time: of a stream, or of the streams of a site, with a tag, or of all."""

    organisation = models.ForeignKey("streams.Organisation", on_delete=models.CASCADE, related_name="%(class)ss")
    stream = models.ForeignKey("streams.Stream", null=True, on_delete=models.CASCADE, related_name="%(class)ss")
    site = models.ForeignKey("streams.Site", null=True, on_delete=models.CASCADE, related_name="%(class)ss")
    tag = models.ForeignKey("streams.Tag", null=True, on_delete=models.CASCADE, related_name="%(class)ss")
    period = models.CharField(max_length=20, blank=True)
    """A name of `saved_views`; empty where the days are fixed."""

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=models.Q(stream=None) | models.Q(site=None, tag=None), name="%(class)s_of_one_thing"
            )
        ]


class SharedLink(SavedView):
    """A link that shows a view to anyone who has it. Its address is shown once and never stored."""

    id = models.BigAutoField(primary_key=True)
    label = models.CharField(max_length=LONGEST_LABEL)
    first_day = models.DateField(null=True)
    last_day = models.DateField(null=True)
    """Of fixed days."""
    token_sha256 = models.BinaryField(max_length=32, unique=True)
    password = models.CharField(max_length=128, blank=True)
    """Hashed; empty: none."""
    origins = ArrayField(models.CharField(max_length=LONGEST_ORIGIN), default=list)
    """Whose pages may embed it; empty: none."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="sharedlinks"
    )
    """NULL: by an account that is gone."""
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    """To a minute."""
    revoked_at = models.DateTimeField(null=True)

    class Meta(SavedView.Meta):
        constraints = [
            *SavedView.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(period="", first_day__lte=models.F("last_day"))
                | (~models.Q(period="") & models.Q(first_day=None, last_day=None)),
                name="sharedlink_has_a_period",
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def days(self) -> tuple[date, date] | None:
        """Fixed ones."""
        return (self.first_day, self.last_day) if self.first_day and self.last_day else None


class MailedReport(SavedView):
    """A view that is sent every week or every month."""

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=LONGEST_LABEL)
    weekday = models.SmallIntegerField(null=True)
    """0 is Monday. NULL: on the first day of each month."""
    hour = models.SmallIntegerField()
    """By the clock of what it shows."""
    language = models.CharField(max_length=5, default="en-gb", db_default="en-gb")
    """Of the mails to those who have chosen none."""
    due_at = models.DateTimeField()
    """When it is sent next."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="mailedreports"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta(SavedView.Meta):
        indexes = [models.Index(fields=["due_at"], name="report_due")]
        constraints = [
            *SavedView.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(hour__range=(0, 23)) & (models.Q(weekday=None) | models.Q(weekday__range=(0, 6))),
                name="mailedreport_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ReportRecipient(models.Model):
    """Somebody who gets a report: a member, or an address outside."""

    id = models.BigAutoField(primary_key=True)
    report = models.ForeignKey(MailedReport, on_delete=models.CASCADE, related_name="recipients", db_index=False)
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="mailed_reports"
    )
    email = models.EmailField(blank=True)
    """Of an address outside; empty for a member, whose own counts."""
    stopped_at = models.DateTimeField(null=True)
    """When it was unsubscribed. The row stays, so that nobody adds the address to this report again."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["report", "account", "email"], name="one_row_per_recipient", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=models.Q(account=None) ^ models.Q(email=""), name="recipient_is_a_member_or_outside"
            ),
        ]

    def __str__(self) -> str:
        return self.email or f"account {self.account_id}"


class ReportMail(models.Model):
    """One mail: to one recipient, of one occurrence of a report. Written before it is sent."""

    id = models.BigAutoField(primary_key=True)
    recipient = models.ForeignKey(ReportRecipient, on_delete=models.CASCADE, related_name="mails", db_index=False)
    due_at = models.DateTimeField()
    """The occurrence, from which its period follows."""
    sent_at = models.DateTimeField(null=True)
    tries = models.SmallIntegerField(default=0, db_default=0)
    try_at = models.DateTimeField()
    """Nobody takes it before: it is being sent, or it failed a moment ago."""

    class Meta:
        indexes = [models.Index(fields=["try_at"], name="report_mail_due", condition=models.Q(sent_at=None))]
        constraints = [models.UniqueConstraint(fields=["recipient", "due_at"], name="one_mail_per_occurrence")]

    def __str__(self) -> str:
        return f"mail to recipient {self.recipient_id} at {self.due_at:%Y-%m-%d %H:%M}"


class ReportPolicy(models.Model):
    """What an organisation's owners allow; without a row, nothing."""

    organisation = models.OneToOneField(
        "streams.Organisation", primary_key=True, on_delete=models.CASCADE, related_name="report_policy", db_index=False
    )
    allows_outside = models.BooleanField(default=False, db_default=False)
    """Whether reports go to addresses that are no member's."""

    def __str__(self) -> str:
        return f"policy of {self.organisation_id}"
