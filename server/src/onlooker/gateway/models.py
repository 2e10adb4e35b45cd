"""Tables of accepted jobs, of blobs and of live workers."""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class Job(models.Model):
    """A job that was accepted to be computed later; its number is the order of acceptance."""

    number = models.BigAutoField(primary_key=True)
    job_id = models.UUIDField(unique=True)
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE)
    service = models.TextField()
    version = models.IntegerField()
    session = models.TextField(null=True)
    request_id = models.TextField()
    params = models.BinaryField()
    attachments = ArrayField(models.TextField())
    size_bytes = models.BigIntegerField(db_default=0)
    accepted_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    leased_until = models.DateTimeField(null=True)
    worker_deaths = models.SmallIntegerField(default=0)
    result = models.BinaryField(null=True)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["number"], name="job_waiting", condition=models.Q(finished_at=None)),
            models.Index(
                fields=["session", "number"],
                name="job_waiting_in_session",
                condition=models.Q(finished_at=None, session__isnull=False),
            ),
            models.Index(
                fields=["stream", "number"],
                name="job_waiting_of_stream",
                include=["size_bytes"],
                condition=models.Q(finished_at=None),
            ),
            models.Index(fields=["expires_at"], name="job_expiry"),
        ]

    def __str__(self) -> str:
        return str(self.job_id)


class Blob(models.Model):
    """Bytes that an owner stored for a while; the bytes themselves are in the blob store."""

    number = models.BigAutoField(primary_key=True)
    blob_id = models.UUIDField(unique=True)
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE)
    size_bytes = models.BigIntegerField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["stream", "expires_at"], name="blob_of_stream"),
            models.Index(fields=["expires_at"], name="blob_expiry"),
        ]

    def __str__(self) -> str:
        return str(self.blob_id)


class ListedWorker(models.Model):
    """A worker that answered on the bus; for the console, which is not on it."""

    instance = models.TextField(primary_key=True)
    name = models.TextField()
    version = models.TextField()
    services = ArrayField(models.TextField())
    confined = models.BooleanField()
    seen_at = models.DateTimeField()

    class Meta:
        verbose_name = "worker"

    def __str__(self) -> str:
        return self.name
