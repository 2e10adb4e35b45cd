"""Tables of the audit log. The database itself numbers, dates and chains entries, and nobody changes them."""

from django.db import models

KEPT_DAYS = 365
"""Unless the owner chooses another time."""
LONGEST_KEPT_DAYS = 3650


class AuditEntry(models.Model):
    """One entry of a stream's log. Only stream, actor, action and detail are written; triggers do the rest."""

    pk = models.CompositePrimaryKey("stream_id", "number")
    stream = models.ForeignKey("streams.Stream", on_delete=models.DO_NOTHING, db_index=False, related_name="audit_log")
    number = models.BigIntegerField()
    at = models.DateTimeField()
    role = models.TextField()
    """PostgreSQL's role that wrote it."""
    actor = models.TextField()
    """Who, by number: see `onlooker.audit.actor`."""
    action = models.TextField()
    detail = models.TextField()
    """JSON, kept as the text that was hashed."""
    previous_hash = models.BinaryField()
    hash = models.BinaryField()

    class Meta:
        db_table = "audit_entry"

    def __str__(self) -> str:
        return f"{self.number} of {self.stream_id}"


class AuditChain(models.Model):
    """Where a stream's log begins and ends now."""

    stream = models.OneToOneField(
        "streams.Stream", on_delete=models.DO_NOTHING, primary_key=True, related_name="audit_chain"
    )
    first_number = models.BigIntegerField()
    """Earlier entries were past the owner's time."""
    last_number = models.BigIntegerField()
    last_hash = models.BinaryField()

    class Meta:
        db_table = "audit_chain"

    def __str__(self) -> str:
        return f"{self.first_number} to {self.last_number} of {self.stream_id}"


class OrganisationEntry(models.Model):
    """One entry of an organisation's log, written as those of streams are."""

    pk = models.CompositePrimaryKey("organisation_id", "number")
    organisation = models.ForeignKey(
        "streams.Organisation", on_delete=models.DO_NOTHING, db_index=False, related_name="audit_log"
    )
    number = models.BigIntegerField()
    at = models.DateTimeField()
    role = models.TextField()
    actor = models.TextField()
    action = models.TextField()
    detail = models.TextField()
    previous_hash = models.BinaryField()
    hash = models.BinaryField()

    class Meta:
        db_table = "audit_organisationentry"

    def __str__(self) -> str:
        return f"{self.number} of organisation {self.organisation_id}"


class OrganisationChain(models.Model):
    """Where an organisation's log begins and ends now."""

    organisation = models.OneToOneField(
        "streams.Organisation", on_delete=models.DO_NOTHING, primary_key=True, related_name="audit_chain"
    )
    first_number = models.BigIntegerField()
    last_number = models.BigIntegerField()
    last_hash = models.BinaryField()

    class Meta:
        db_table = "audit_organisationchain"

    def __str__(self) -> str:
        return f"{self.first_number} to {self.last_number} of organisation {self.organisation_id}"


class AuditRetention(models.Model):
    """How long a stream's entries are kept, where its owner has chosen."""

    stream = models.OneToOneField(
        "streams.Stream", on_delete=models.CASCADE, primary_key=True, related_name="audit_retention"
    )
    days = models.PositiveSmallIntegerField()

    class Meta:
        db_table = "audit_retention"
        constraints = [
            models.CheckConstraint(condition=models.Q(days__range=(1, LONGEST_KEPT_DAYS)), name="audit_days_in_range")
        ]

    def __str__(self) -> str:
        return f"{self.days} days of {self.stream_id}"
