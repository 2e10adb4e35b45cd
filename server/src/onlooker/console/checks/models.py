"""The table of camera checks: what a person counted, and what the product counted meanwhile."""

from django.db import models

from onlooker.streams.models import Stream

LONGEST_CHECK_S = 3600
MOST_PEOPLE = 100_000


class CameraCheck(models.Model):
    """One person's count in front of one camera."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="camera_checks", db_index=False)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    """None while the person counts."""
    passed = models.PositiveIntegerField(default=0, db_default=0)
    """Everybody whom the person saw passing."""
    stopped = models.PositiveIntegerField(default=0, db_default=0)
    """Those of them who stopped and looked."""
    passing_by = models.PositiveIntegerField(null=True)
    """The product's own count; None until the last visits of that time are written."""
    interested = models.PositiveIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["stream", "-began_at"], name="newest_checks_of_stream")]

    def __str__(self) -> str:
        return f"{self.stream_id} at {self.began_at:%Y-%m-%d %H:%M}"
