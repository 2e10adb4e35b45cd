"""Tables of customers, subscriptions, checkouts, Stripe's events, and mails that wait to be sent."""

import uuid
from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone

from onlooker.console.billing.grace import GRACE
from onlooker.streams.models import Stream


class Customer(models.Model):
    """An account as Stripe knows it. Its row is locked while we and Stripe are brought to agreement."""

    id = models.BigAutoField(primary_key=True)
    account = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="customer"
    )
    """Nobody, once the account is deleted; Stripe's record of it goes next."""
    key = models.UUIDField(default=uuid.uuid4, unique=True)
    stripe_id = models.TextField(blank=True, default="")
    """Empty until Stripe has answered."""
    settle_at = models.DateTimeField(default=timezone.now, db_index=True)
    """When to look next whether we and Stripe agree."""
    failures = models.PositiveIntegerField(default=0)
    """How often in a row Stripe could not be asked."""
    key_round = models.PositiveIntegerField(default=0)
    """Part of idempotency keys: Stripe repeats an answered failure for a day to whoever asks with the same key."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stripe_id"], condition=~models.Q(stripe_id=""), name="one_stripe_customer")
        ]

    def __str__(self) -> str:
        return self.stripe_id or str(self.key)


class Subscription(models.Model):
    """What makes a stream an enterprise stream; gone as soon as it has ended at Stripe too."""

    id = models.BigAutoField(primary_key=True)
    stream = models.OneToOneField(Stream, on_delete=models.PROTECT, related_name="subscription")
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="subscriptions")
    key = models.UUIDField(default=uuid.uuid4, unique=True)
    """Stripe's record carries it, so that we know it again when its answer got lost."""
    stripe_id = models.TextField(blank=True, default="")
    status = models.TextField(blank=True, default="")
    """Stripe's word for it; empty until Stripe has answered."""
    invoice_url = models.TextField(blank=True, default="")
    """Stripe's page where the newest invoice can be paid or confirmed."""
    wanted = models.BooleanField(default=True)
    """False: it is to be cancelled at Stripe."""
    past_due_since = models.DateTimeField(null=True)
    told = models.PositiveSmallIntegerField(default=0)
    """How many of the mails about a failed payment were written."""
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.status or 'new'} of {self.stream_id}"

    @property
    def grace_ends_at(self) -> datetime | None:
        """When the stream loses its kind unless somebody pays."""
        return self.past_due_since + GRACE if self.past_due_since else None


class Checkout(models.Model):
    """A visit to Stripe's page for cards; what follows from it is done once."""

    id = models.BigAutoField(primary_key=True)
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="checkouts")
    stripe_id = models.TextField(unique=True)
    stream = models.ForeignKey(Stream, null=True, on_delete=models.SET_NULL, related_name="+")
    """The stream to subscribe for when there is a card; none: only the card changes."""
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.stripe_id


class Event(models.Model):
    """Something that Stripe told us. What it says is not kept: we ask for the state of things ourselves."""

    id = models.BigAutoField(primary_key=True)
    stripe_id = models.TextField(unique=True)
    type = models.TextField()
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="events")
    received_at = models.DateTimeField(default=timezone.now)
    handled_at = models.DateTimeField(null=True, db_index=True)
    error = models.TextField(blank=True, default="")

    def __str__(self) -> str:
        return f"{self.type} {self.stripe_id}"


class Notice(models.Model):
    """A mail to an owner, written in the same transaction as what it tells, and sent afterwards."""

    class Kind(models.TextChoices):
        PAYMENT_FAILED = "payment_failed"
        PAYMENT_REMINDER = "payment_reminder"
        PAID = "paid"
        ENDED = "ended"

    id = models.BigAutoField(primary_key=True)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.TextField(choices=Kind.choices)
    client_id = models.UUIDField()
    stream_name = models.CharField(max_length=100)
    ends_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    tries = models.PositiveSmallIntegerField(default=0)
    """How often the mail server refused it."""
    try_at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"{self.kind} of {self.client_id}"
