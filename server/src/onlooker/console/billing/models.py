"""Tables of customers, subscriptions, checkouts, Stripe's events, and mails to be sent."""

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from onlooker.streams.models import Stream

GRACE_PERIOD = timedelta(days=7)
"""How long a stream stays an enterprise stream after a failed payment."""


class Customer(models.Model):
    """An account as Stripe knows it. Its row is locked during a reconciliation."""

    id = models.BigAutoField(primary_key=True)
    account = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="customer"
    )
    """None once the account is deleted; Stripe's record is deleted next."""
    key = models.UUIDField(default=uuid.uuid4, unique=True)
    stripe_id = models.TextField(blank=True, default="")
    """Empty until Stripe has answered."""
    settle_at = models.DateTimeField(default=timezone.now, db_index=True)
    """When to reconcile next."""
    failures = models.PositiveIntegerField(default=0)
    """Reconciliations that failed in a row."""
    key_round = models.PositiveIntegerField(default=0)
    """Part of idempotency keys: for a day Stripe repeats an answered failure to requests with the same key."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stripe_id"], condition=~models.Q(stripe_id=""), name="one_stripe_customer")
        ]

    def __str__(self) -> str:
        return self.stripe_id or str(self.key)


class Subscription(models.Model):
    """Makes a stream an enterprise stream; deleted once it has ended at Stripe too."""

    id = models.BigAutoField(primary_key=True)
    stream = models.OneToOneField(Stream, on_delete=models.PROTECT, related_name="subscription")
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="subscriptions")
    key = models.UUIDField(default=uuid.uuid4, unique=True)
    """Stored in Stripe's record, to recognise it if Stripe's answer was lost."""
    stripe_id = models.TextField(blank=True, default="")
    status = models.TextField(blank=True, default="")
    """As Stripe calls it; empty until Stripe has answered."""
    invoice_url = models.TextField(blank=True, default="")
    """Stripe's page where the newest invoice can be paid or confirmed."""
    wanted = models.BooleanField(default=True)
    """False: it is to be cancelled at Stripe."""
    past_due_since = models.DateTimeField(null=True)
    told = models.PositiveSmallIntegerField(default=0)
    """How many mails about a failed payment have been queued."""
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.status or 'new'} of {self.stream_id}"

    @property
    def grace_ends_at(self) -> datetime | None:
        """When the stream becomes a developer stream unless the invoice is paid."""
        return self.past_due_since + GRACE_PERIOD if self.past_due_since else None


class Checkout(models.Model):
    """A visit to Stripe's page for cards; its result is processed once."""

    id = models.BigAutoField(primary_key=True)
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="checkouts")
    stripe_id = models.TextField(unique=True)
    stream = models.ForeignKey(Stream, null=True, on_delete=models.SET_NULL, related_name="+")
    """The stream to subscribe once there is a card; if none, only the card changes."""
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.stripe_id


class StripeEvent(models.Model):
    """An event that Stripe sent. Its contents are not kept: we read the current state from Stripe instead."""

    id = models.BigAutoField(primary_key=True)
    stripe_id = models.TextField(unique=True)
    type = models.TextField()
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="events")
    received_at = models.DateTimeField(default=timezone.now)
    handled_at = models.DateTimeField(null=True, db_index=True)
    error = models.TextField(blank=True, default="")

    class Meta:
        db_table = "billing_event"

    def __str__(self) -> str:
        return f"{self.type} {self.stripe_id}"


class Notice(models.Model):
    """A mail to an owner, queued in the same transaction as what it reports, and sent afterwards."""

    class NoticeKind(models.TextChoices):
        PAYMENT_FAILED = "payment_failed"
        PAYMENT_REMINDER = "payment_reminder"
        PAID = "paid"
        ENDED = "ended"

    id = models.BigAutoField(primary_key=True)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.TextField(choices=NoticeKind.choices)
    client_id = models.UUIDField()
    stream_name = models.CharField(max_length=100)
    ends_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    tries = models.PositiveSmallIntegerField(default=0)
    """How often the mail server refused it."""
    try_at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"{self.kind} of {self.client_id}"
