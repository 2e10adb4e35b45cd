"""What billing does when an account is removed."""

from typing import Any

from onlooker.console.accounts.models import Account
from onlooker.console.billing.models import Customer


def lock_customer(*, account: Account, **values: Any) -> None:
    """First of all: a settlement locks the customer, then its streams. Two that do it the other way round get stuck."""
    list(Customer.objects.select_for_update(no_key=True).filter(account=account))
