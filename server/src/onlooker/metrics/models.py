"""The tables of the roll-up, as far as Django must know them: other columns only our own SQL reads."""

from django.db import models


class Slot(models.Model):
    """The totals of the visits that begin in a slot."""

    pk = models.CompositePrimaryKey("stream_id", "slot_at")
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE, db_index=False, related_name="slots")
    slot_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class CoverageHour(models.Model):
    """How much of an hour was watched: its slots together. The database itself keeps it."""

    pk = models.CompositePrimaryKey("stream_id", "hour_at")
    stream = models.ForeignKey(
        "streams.Stream", on_delete=models.DO_NOTHING, db_index=False, related_name="coverage_hours"
    )
    hour_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.hour_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class QualityHour(models.Model):
    """How well an hour could be looked at by one version: its slots together. The database itself keeps it."""

    pk = models.CompositePrimaryKey("stream_id", "hour_at", "models_version", "pipeline_version")
    stream = models.ForeignKey(
        "streams.Stream", on_delete=models.DO_NOTHING, db_index=False, related_name="quality_hours"
    )
    hour_at = models.DateTimeField()
    models_version = models.TextField()
    pipeline_version = models.TextField()

    def __str__(self) -> str:
        return f"{self.hour_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class Block(models.Model):
    """What is told about at least `groups_of` people: a run of slots, frozen."""

    pk = models.CompositePrimaryKey("stream_id", "begins_at")
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE, db_index=False, related_name="blocks")
    begins_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.begins_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class BlockProgress(models.Model):
    """Up to where a stream's slots are in blocks, or will never be."""

    stream = models.OneToOneField(
        "streams.Stream", primary_key=True, on_delete=models.CASCADE, related_name="block_progress"
    )
    blocked_until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.blocked_until:%Y-%m-%d %H:%M} of {self.stream_id}"


class Day(models.Model):
    """The totals of the slots and blocks that begin on a local day of the stream. The database itself keeps them."""

    pk = models.CompositePrimaryKey("stream_id", "day")
    stream = models.ForeignKey("streams.Stream", on_delete=models.DO_NOTHING, db_index=False, related_name="days")
    day = models.DateField()

    def __str__(self) -> str:
        return f"{self.day} of {self.stream_id}"


class DayCoverage(models.Model):
    """How much of a local day was watched, and in how much the camera saw nothing. The database itself keeps it."""

    pk = models.CompositePrimaryKey("stream_id", "day")
    stream = models.ForeignKey(
        "streams.Stream", on_delete=models.DO_NOTHING, db_index=False, related_name="day_coverage"
    )
    day = models.DateField()

    def __str__(self) -> str:
        return f"{self.day} of {self.stream_id}"


class Week(models.Model):
    """A local week that is told by gender and age together: its parts. It goes with any of its blocks."""

    pk = models.CompositePrimaryKey("stream_id", "begins_at")
    stream = models.ForeignKey("streams.Stream", on_delete=models.DO_NOTHING, db_index=False, related_name="weeks")
    begins_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.begins_at:%Y-%m-%d %H:%M} of {self.stream_id}"
