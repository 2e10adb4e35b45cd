"""The table of requests that have an idempotency key."""

from django.db import models
from django.db.models.functions import Now


class IdempotentRequest(models.Model):
    """A request and its answer: the same request again gets the same answer."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey(
        "streams.Organisation", on_delete=models.CASCADE, related_name="idempotent_requests", db_index=False
    )
    key_sha256 = models.BinaryField(max_length=32)
    """Of the idempotency key, and of the organisation's key that sent it."""
    request_sha256 = models.BinaryField(max_length=32)
    """Of method, path and body."""
    status = models.PositiveSmallIntegerField(null=True)
    """NULL while it is in progress."""
    sealed_answer = models.TextField(blank=True, default="")
    """Encrypted with the secret key: an answer may show a secret once."""
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="idempotent_request_age")]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "key_sha256"], name="one_request_per_idempotency_key")
        ]

    def __str__(self) -> str:
        return f"request {self.pk} of {self.organisation_id}"
