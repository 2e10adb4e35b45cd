"""The tables of notices: what an owner enters for a stream's documents, and what held when."""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy

from onlooker.streams.models import Stream

LONGEST_LINE = 100
LONGEST_ADDRESS = 160
LONGEST_PURPOSE = 200
"""A sheet of A6 must hold all of them."""


class LegalBasis(models.TextChoices):
    """Of article 6(1) GDPR, as far as a camera may have one."""

    UNDECIDED = "", gettext_lazy("Not decided yet")
    INTERESTS = "interests", gettext_lazy("Legitimate interests, article 6(1)(f)")
    TASK = "task", gettext_lazy("A task in the public interest, article 6(1)(e)")
    CONSENT = "consent", gettext_lazy("Consent, article 6(1)(a)")


class NoticeDetails(models.Model):
    """What the product can't know of a stream; empty fields are blanks in the documents."""

    stream = models.OneToOneField(
        Stream, primary_key=True, on_delete=models.CASCADE, related_name="notice_details", db_index=False
    )
    controller = models.CharField(max_length=LONGEST_LINE, blank=True, default="", db_default="")
    address = models.CharField(max_length=LONGEST_ADDRESS, blank=True, default="", db_default="")
    contact = models.CharField(max_length=LONGEST_LINE, blank=True, default="", db_default="")
    officer = models.CharField(max_length=LONGEST_LINE, blank=True, default="", db_default="")
    """How to reach the data protection officer, where there is one."""
    recipients = models.CharField(max_length=LONGEST_ADDRESS, blank=True, default="", db_default="")
    place = models.CharField(max_length=LONGEST_LINE, blank=True, default="", db_default="")
    purpose_en = models.CharField(max_length=LONGEST_PURPOSE, blank=True, default="", db_default="")
    purpose_fr = models.CharField(max_length=LONGEST_PURPOSE, blank=True, default="", db_default="")
    purpose_de = models.CharField(max_length=LONGEST_PURPOSE, blank=True, default="", db_default="")
    purpose_es = models.CharField(max_length=LONGEST_PURPOSE, blank=True, default="", db_default="")
    legal_basis = models.CharField(
        max_length=20, choices=LegalBasis.choices, blank=True, default=LegalBasis.UNDECIDED, db_default=""
    )
    is_public = models.BooleanField(default=False, db_default=False)
    """Whether the page behind the QR code is there."""
    public_key = models.CharField(max_length=40, null=True, unique=True, editable=False)
    """The unguessable part of that page's address; kept while the page is off, since printed notices name it."""

    def __str__(self) -> str:
        return f"details of {self.stream_id}"


class NoticeVersion(models.Model):
    """What documents depended on from a moment on. A trigger writes it, whichever way a setting is changed."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(
        Stream, on_delete=models.CASCADE, db_constraint=False, related_name="notice_versions", db_index=False
    )
    at = models.DateTimeField(db_default=Now())
    subject = models.TextField()
    """The table whose row changed."""
    held = models.JSONField()
    """Those of its columns that documents depend on."""

    class Meta:
        indexes = [models.Index(fields=["stream", "subject", "-id"], name="newest_notice_version")]

    def __str__(self) -> str:
        return f"{self.subject} of {self.stream_id} at {self.at:%Y-%m-%d %H:%M}"
