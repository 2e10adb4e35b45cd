"""Tables of webhooks: where events are sent, the secrets that sign them, and what is sent."""

import uuid
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _lazy

from onlooker.webhooks.addresses import LONGEST_URL

if TYPE_CHECKING:
    from django.db.models import QuerySet

WAITING = models.Q(delivered_at=None, failed_at=None)


class Endpoint(models.Model):
    """An address that an organisation's events are sent to."""

    class Disabled(models.TextChoices):
        BY_PERSON = "person", _lazy("disabled by a member")
        FAILED = "failed", _lazy("no delivery succeeded for three days")
        GONE = "gone", _lazy("the receiver answered 410 Gone")

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey("streams.Organisation", on_delete=models.CASCADE, related_name="webhooks")
    name = models.CharField(max_length=80, blank=True)
    url = models.CharField(max_length=LONGEST_URL)
    """May contain a secret of the receiver: it is never logged."""
    events = ArrayField(models.CharField(max_length=60), default=list)
    """Those that it gets; empty: all."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="webhooks"
    )
    """NULL: at the command line, with a key, or by an account that is gone."""
    created_at = models.DateTimeField(db_default=Now())
    disabled_at = models.DateTimeField(null=True)
    disabled_why = models.CharField(max_length=10, choices=Disabled.choices, blank=True, default="")
    told_at = models.DateTimeField(null=True)
    """When owners were told that it was disabled."""
    failures = models.PositiveIntegerField(default=0)
    """Tries that failed since the last one that succeeded."""
    failing_since = models.DateTimeField(null=True)
    rest_until = models.DateTimeField(db_default=Now())
    """Nobody takes it before: a deliverer is at work, or it failed a moment ago."""

    class Meta:
        indexes = [models.Index(fields=["rest_until"], name="webhook_free", condition=models.Q(disabled_at=None))]

    def __str__(self) -> str:
        return self.name or self.host

    @property
    def host(self) -> str:
        """What may be told of its URL."""
        return urlsplit(self.url).hostname or ""

    def waiting(self) -> "QuerySet[Delivery]":
        return self.deliveries.filter(WAITING)


class EndpointSecret(models.Model):
    """Signs what is sent to an endpoint; two of them while one is replaced."""

    id = models.BigAutoField(primary_key=True)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="secrets")
    sealed_secret = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    """When it signs no more; NULL: the present one."""

    def __str__(self) -> str:
        return f"secret {self.pk} of {self.endpoint_id}"


class Delivery(models.Model):
    """An event on its way to an endpoint: waiting, delivered or failed."""

    id = models.BigAutoField(primary_key=True)
    message = models.UUIDField(default=uuid.uuid4, unique=True)
    """The same with each try, so that a receiver knows what it has already."""
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.CharField(max_length=60)
    body = models.TextField()
    """Exactly what is sent."""
    created_at = models.DateTimeField(db_default=Now())
    tries = models.PositiveSmallIntegerField(default=0)
    """Since it was created or somebody sent it again."""
    next_try_at = models.DateTimeField(db_default=Now())
    last_try_at = models.DateTimeField(null=True)
    last_status = models.PositiveSmallIntegerField(null=True)
    last_reason = models.CharField(max_length=20, blank=True, default="")
    """Why the last try failed: a `Trouble`."""
    delivered_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    """When it was given up."""

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["endpoint", "-id"], name="webhook_deliveries"),
            models.Index(fields=["endpoint", "next_try_at"], name="webhook_due", condition=WAITING),
            models.Index(fields=["created_at"], name="webhook_age"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.message_id}"

    @property
    def message_id(self) -> str:
        return f"msg_{self.message.hex}"

    @property
    def is_waiting(self) -> bool:
        return self.delivered_at is None and self.failed_at is None
