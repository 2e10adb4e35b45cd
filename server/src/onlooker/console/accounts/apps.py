"""The Django app that owns the table of accounts."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "onlooker.console.accounts"
    label = "accounts"
