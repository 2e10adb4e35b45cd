"""A console without Stripe's library, which only the extra `billing` brings."""

import sys

from onlooker.console.billing.models import Customer
from payments import do_chores

pytest_plugins = ["pages"]


def test_chores_without_keys_need_no_library(owner, settings, monkeypatch):
    Customer.objects.create(account=owner, stripe_id="cus_of_nobody")
    owner.delete()
    assert not settings.ONLOOKER.stripe_secret_key
    monkeypatch.setitem(sys.modules, "stripe", None)
    do_chores()
    assert not Customer.objects.exists()
