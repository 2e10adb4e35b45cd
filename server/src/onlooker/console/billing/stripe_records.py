"""Values read from Stripe, independent of its library's types."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils.formats import number_format

PAID = frozenset({"active", "trialing"})
PAST_DUE = frozenset({"past_due", "unpaid", "paused"})
INCOMPLETE = frozenset({"incomplete"})
ENDED = frozenset({"canceled", "incomplete_expired"})

_WITHOUT_CENTS = frozenset(
    {"bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "ugx", "vnd", "vuv", "xaf", "xof", "xpf"}
)
_WITH_MILS = frozenset({"bhd", "jod", "kwd", "omr", "tnd"})


@dataclass(frozen=True)
class Money:
    """An amount in a currency's smallest unit."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        places = 0 if self.currency in _WITHOUT_CENTS else 3 if self.currency in _WITH_MILS else 2
        number = number_format(f"{self.amount.scaleb(-places):.{places}f}", force_grouping=True)
        return f"{number} {self.currency.upper()}"


@dataclass(frozen=True)
class Price:
    """What an enterprise stream costs."""

    money: Money | None
    """None if it is not a single amount; the invoice then shows it."""
    interval: str
    """`day`, `week`, `month` or `year`."""
    interval_count: int


@dataclass(frozen=True)
class Card:
    """The card that pays."""

    stripe_id: str
    brand: str
    last_four: str
    expires: str


@dataclass(frozen=True)
class StripeSubscription:
    """A subscription as Stripe has it."""

    stripe_id: str
    status: str
    key: str
    """The key of our row, if we created it."""
    invoice_id: str
    invoice_url: str


@dataclass(frozen=True)
class CheckoutSession:
    """The state of a visit to Stripe's page for cards."""

    status: str
    customer_id: str
    payment_method: str


@dataclass(frozen=True)
class Invoice:
    """One row of the list of invoices."""

    at: datetime
    money: Money
    status: str
    url: str
