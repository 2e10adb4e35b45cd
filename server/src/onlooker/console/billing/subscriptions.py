"""What Stripe knows about a customer's subscriptions, and what that means for their streams."""

import logging
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext as _

from onlooker.audit.actor import BILLING, acting_as
from onlooker.console.billing import stripe_api
from onlooker.console.billing.dunning import dunning_state_at, write_notice
from onlooker.console.billing.models import Notice, Subscription
from onlooker.console.billing.stripe_api import StripeApiError
from onlooker.console.billing.stripe_records import ENDED, INCOMPLETE, PAID, PAST_DUE, StripeSubscription
from onlooker.logs import fields
from onlooker.streams.administration import set_stream
from onlooker.streams.models import Membership, Stream
from onlooker.streams.organisations import RefusedError

log = logging.getLogger(__name__)


@dataclass
class StripeState:
    """What Stripe has of one customer, kept up to date while subscriptions begin and end."""

    has_card: bool
    subscriptions: list[StripeSubscription]
    """Those that have not ended, or only just now."""
    kinds: list[tuple[Stream, Stream.Kind]] = field(default_factory=list)
    """The streams' new kinds, set after the last call to Stripe so that their rows are not locked before."""

    def find(self, *, stripe_id: str, key: str) -> StripeSubscription | None:
        """By Stripe's id, or by our key if Stripe's answer was lost."""
        return next((one for one in self.subscriptions if one.stripe_id == stripe_id or one.key == key), None)

    def cancel(self, subscription: StripeSubscription) -> None:
        if subscription.status not in ENDED:
            stripe_api.cancel_subscription(subscription.stripe_id)
        self.subscriptions.remove(subscription)


def read_stripe_state(stripe_id: str) -> StripeState:
    """Raises StripeApiError, with is_missing if Stripe has no such customer."""
    has_card = stripe_api.read_card(stripe_id) is not None
    return StripeState(has_card, stripe_api.list_subscriptions(stripe_id))


def has_subscription(stream: Stream) -> bool:
    """Whether Stripe decides its kind; a change by hand would be undone."""
    return Subscription.objects.filter(stream=stream).exists()


def set_kind(stream: Stream, kind: Stream.Kind) -> None:
    """Also recorded in the log of its states; does nothing for a stream that is being removed."""
    if not Stream.objects.filter(pk=stream.pk, removed_at=None).exclude(kind=kind).exists():
        return
    try:
        with acting_as(BILLING):
            set_stream(str(stream.client_id), {"kind": kind}, quota_s=settings.ONLOOKER.developer_quota_s)
    except Stream.DoesNotExist:  # removed just now
        return
    stream.kind = kind
    log.info("kind set by billing", extra=fields(stream=stream.pk, kind=str(kind)))


def reconcile_subscription(row: Subscription, state: StripeState, *, now: datetime) -> None:
    """Begin, update or end a subscription; its row is deleted when it has ended."""
    found = state.find(stripe_id=row.stripe_id, key=str(row.key)) or _find_unlisted(row)
    if not row.wanted or row.stream.removed_at is not None:
        if found:
            state.cancel(found)
        row.delete()
        return
    if found is None and not row.stripe_id:
        if not state.has_card:
            row.delete()
            return
        found = _begin(row)
        state.subscriptions.append(found)
    if found is None or found.status in ENDED:
        _end(row, state, now=now)
        return
    _update(row, found, state, now=now)


def _find_unlisted(row: Subscription) -> StripeSubscription | None:
    """The list holds what has not ended; ask once more before a stream loses its kind."""
    if not row.stripe_id:
        return None
    try:
        found = stripe_api.read_subscription(row.stripe_id)
    except StripeApiError as error:
        if error.is_missing:
            return None
        raise
    return None if found.status in ENDED else found


def _begin(row: Subscription) -> StripeSubscription:
    customer = row.customer
    return stripe_api.create_subscription(
        customer.stripe_id, key=row.key, client_id=row.stream.client_id, attempt=customer.key_round
    )


def _update(row: Subscription, found: StripeSubscription, state: StripeState, *, now: datetime) -> None:
    row.stripe_id, row.status, row.invoice_url = found.stripe_id, found.status, found.invoice_url
    if found.status in PAID:
        state.kinds.append((row.stream, Stream.Kind.ENTERPRISE))
        if row.past_due_since:
            write_notice(row, Notice.NoticeKind.PAID, now=now)
        row.past_due_since, row.told = None, 0
    elif found.status in PAST_DUE:
        row.past_due_since = row.past_due_since or now
        dunning = dunning_state_at(now, since=row.past_due_since)
        if dunning.is_over:
            state.cancel(found)
            _end(row, state, now=now)
            return
        if dunning.mails_due > row.told:
            first, later = Notice.NoticeKind.PAYMENT_FAILED, Notice.NoticeKind.PAYMENT_REMINDER
            kind = first if dunning.mails_due == 1 else later
            write_notice(row, kind, now=now, ends_at=dunning.ends_at)
            row.told = dunning.mails_due
    elif found.status not in INCOMPLETE:
        log.warning("unknown status of a subscription", extra=fields(status=found.status))
    row.save()


def _end(row: Subscription, state: StripeState, *, now: datetime) -> None:
    state.kinds.append((row.stream, Stream.Kind.DEVELOPER))
    write_notice(row, Notice.NoticeKind.ENDED, now=now)
    row.delete()


def check_payer(membership: Membership) -> None:
    """Raises RefusedError: those who pay for streams stay owners until another one does."""
    paid = Subscription.objects.filter(
        customer__account=membership.account_id, stream__organisation=membership.organisation_id, wanted=True
    )
    if paid.exists():
        text = _(
            "{email} pays for streams of this organisation. Cancel these subscriptions first; "
            "another owner can then upgrade the streams again."
        )
        raise RefusedError(text.format(email=membership.account))
