"""The Django app that owns the tables of customers, subscriptions and Stripe's events."""

from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "onlooker.console.billing"
    label = "billing"

    def ready(self) -> None:
        from onlooker.console.accounts.deletion import account_deletion_started
        from onlooker.console.billing.reconciliation import lock_customer

        account_deletion_started.connect(lock_customer)
