"""A settlement that is cut off in its middle charges nobody twice."""

import pytest
from django.db import OperationalError

from memberships import owner_of
from onlooker.console.billing import reconciliation, stripe_api
from onlooker.console.billing.models import Customer
from payments import GOOD_CARD, kind_of, live_subscriptions

pytest_plugins = ["pages", "stripes"]


class KilledError(BaseException):
    """As SystemExit: nobody catches it."""


def invoices(stripe, owner) -> list[str]:
    customer = Customer.objects.get(account=owner).stripe_id
    return [one["status"] for one in stripe.call("GET", f"/v1/invoices?customer={customer}&limit=100")["data"]]


def test_database_that_goes_away_after_the_charge(person, entrance, owner, stripe, monkeypatch):
    person.enter_card(person.ask_upgrade(entrance), GOOD_CARD)

    def go_away(*values: object) -> None:
        raise OperationalError

    with monkeypatch.context() as patched:
        patched.setattr(reconciliation, "set_kind", go_away)
        with pytest.raises(OperationalError):
            person.browser.get("/billing/done/")
    person.browser.get("/billing/done/")
    assert invoices(stripe, owner) == ["paid"]
    assert len(live_subscriptions(stripe, owner)) == 1
    assert kind_of(entrance) == "enterprise"


@pytest.mark.parametrize("step", ["set_default_method", "create_subscription"])
def test_process_that_is_killed_right_after_stripe_did_it(person, entrance, stripe, monkeypatch, step):
    owner = owner_of(entrance)
    person.enter_card(person.ask_upgrade(entrance), GOOD_CARD)
    do = getattr(stripe_api, step)

    def die(*values: object, **more: object) -> None:
        do(*values, **more)
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(stripe_api, step, die)
        with pytest.raises(KilledError):
            person.browser.get("/billing/done/")
    stripe.forget_keys()
    person.browser.get("/billing/done/")
    assert invoices(stripe, owner) == ["paid"]
    assert len(live_subscriptions(stripe, owner)) == 1
    assert kind_of(entrance) == "enterprise"
