"""What Stripe has of one customer, read at the beginning of a settlement."""

from dataclasses import dataclass, field

from onlooker.console.billing import till
from onlooker.console.billing.models import Subscription
from onlooker.console.billing.records import ENDED, Billed
from onlooker.streams.models import Stream


@dataclass
class Look:
    """Kept true while subscriptions begin and end."""

    has_card: bool
    billed: list[Billed]
    """Subscriptions that have not ended, or just now."""
    kinds: list[tuple[Stream, Stream.Kind]] = field(default_factory=list)
    """What streams become. It is set when Stripe is asked for nothing more: their rows are not locked before."""

    def find(self, *, stripe_id: str, key: str) -> Billed | None:
        """By Stripe's id, or by our key where Stripe's answer got lost."""
        return next((one for one in self.billed if one.stripe_id == stripe_id or one.key == key), None)

    def cancel(self, billed: Billed) -> None:
        if billed.status not in ENDED:
            till.cancel_subscription(billed.stripe_id)
        self.billed.remove(billed)


def look_at_customer(stripe_id: str) -> Look:
    """Raises TillError, with is_missing where Stripe has no such customer."""
    has_card = till.read_card(stripe_id) is not None
    return Look(has_card, till.list_subscriptions(stripe_id))


def has_subscription(stream: Stream) -> bool:
    """Whether its kind follows from what Stripe charges; setting it by hand would not last."""
    return Subscription.objects.filter(stream=stream).exists()
