"""The table of the roll-up, as far as Django must know it."""

from django.db import models


class Slot(models.Model):
    """The totals of the visits that begin in a slot. Its figures are columns that only our own SQL reads."""

    pk = models.CompositePrimaryKey("stream_id", "slot_at")
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE, db_index=False, related_name="slots")
    slot_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id}"
