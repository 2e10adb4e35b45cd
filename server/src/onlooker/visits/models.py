"""Tables of visits, of slots to be recalculated because of them, and of visits that could not be written."""

from typing import Any

from django.db import models
from django.db.models.functions import Now


class MomentsField(models.Field):  # type: ignore[type-arg]
    """Intervals of time: PostgreSQL's tstzmultirange."""

    def db_type(self, connection: Any) -> str:
        return "tstzmultirange"


class VisitRow(models.Model):
    """One tracked person of one stream.

    The migration creates the table itself: it is partitioned by month of `began_at`, its key is (stream, began_at, id),
    and the database deletes a stream's visits with the stream.
    """

    class Gender(models.TextChoices):
        MALE = "male"
        FEMALE = "female"

    id = models.UUIDField(primary_key=True)
    stream = models.ForeignKey("streams.Stream", on_delete=models.DO_NOTHING, db_index=False, related_name="visits")
    began_at = models.DateTimeField()
    revision = models.IntegerField()
    ended = models.BooleanField()
    session = models.TextField()
    """Name of its session's state on the bus while it is open, then empty."""
    present = MomentsField()
    still = MomentsField()
    looking = MomentsField()
    age = models.FloatField(null=True)
    age_confidence = models.FloatField()
    gender = models.TextField(null=True, choices=Gender.choices)
    gender_confidence = models.FloatField()
    neutral = models.FloatField(null=True)
    happiness = models.FloatField(null=True)
    surprise = models.FloatField(null=True)
    anger = models.FloatField(null=True)
    sadness = models.FloatField(null=True)
    confidence = models.FloatField()
    written_at = models.DateTimeField()

    class Meta:
        db_table = "visits_visit"

    def __str__(self) -> str:
        return str(self.id)


class PutAside(models.Model):
    """A visit that could not be written, kept for a while so that somebody can find out why."""

    number = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey("streams.Stream", null=True, on_delete=models.CASCADE)
    visit_id = models.UUIDField(null=True)
    reason = models.TextField()
    detail = models.TextField()
    payload = models.BinaryField()
    put_aside_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.reason} {self.number}"


class Mark(models.Model):
    """A slot whose visits changed since it was filled."""

    pk = models.CompositePrimaryKey("stream_id", "slot_at")
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE, db_index=False, related_name="marks")
    slot_at = models.DateTimeField()
    reaches_at = models.DateTimeField()
    marked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class ErasedRange(models.Model):
    """A range that an owner has erased: what reaches into it is not written again, however late it arrives."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE, related_name="erased_ranges")
    from_at = models.DateTimeField()
    to_at = models.DateTimeField()
    erased_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "visits_erased"

    def __str__(self) -> str:
        return f"{self.from_at:%Y-%m-%d %H:%M} to {self.to_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class KeptSince(models.Model):
    """The moment from which all of a stream's visits are there; earlier ones are deleted."""

    stream = models.OneToOneField("streams.Stream", on_delete=models.CASCADE, primary_key=True, related_name="kept")
    since = models.DateTimeField()

    class Meta:
        db_table = "visits_kept"

    def __str__(self) -> str:
        return f"{self.stream_id} since {self.since:%Y-%m-%d %H:%M}"
