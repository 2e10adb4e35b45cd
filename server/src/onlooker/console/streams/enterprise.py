"""How an account gets an enterprise stream, and whether its owner may change the kind."""

from django.conf import settings

from onlooker.console.accounts.models import Account
from onlooker.console.billing.look import has_subscription
from onlooker.streams.kinds import Way, way_to_enterprise
from onlooker.streams.models import Stream


def way_of(account: Account) -> Way:
    return way_to_enterprise(settings.ONLOOKER, is_staff=account.is_staff)


def may_choose_kind(stream: Stream) -> bool:
    """Its owner, without billing; not where a subscription from times with billing still stands for its kind."""
    return stream.owner is not None and way_of(stream.owner) is Way.CHOICE and not has_subscription(stream)
