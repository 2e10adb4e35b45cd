"""The Django app that owns the tables of customers, subscriptions and Stripe's events."""

from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "onlooker.console.billing"
    label = "billing"

    def ready(self) -> None:
        from onlooker.console.accounts.removal import account_going
        from onlooker.console.billing.removals import lock_customer

        account_going.connect(lock_customer)
