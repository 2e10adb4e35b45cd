"""Tables of visits, and of those that the database refused."""

from typing import Any

from django.db import models


class MomentsField(models.Field):  # type: ignore[type-arg]
    """Intervals of time: PostgreSQL's tstzmultirange."""

    def db_type(self, connection: Any) -> str:
        return "tstzmultirange"


class Visit(models.Model):
    """One followed person of one stream.

    The migration makes the table itself: it is partitioned by month of `began_at`, its key is (stream, began_at, id),
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

    def __str__(self) -> str:
        return str(self.id)


class PutAside(models.Model):
    """A visit that can't be written as it is, kept for a while so that somebody can find out why."""

    number = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey("streams.Stream", null=True, on_delete=models.CASCADE)
    visit_id = models.UUIDField(null=True)
    reason = models.TextField()
    detail = models.TextField()
    payload = models.BinaryField()
    put_aside_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.reason} {self.number}"
