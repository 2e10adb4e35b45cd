"""Tables of what of the numbers leaves the console: read-only links."""

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
