"""The Django app that owns the tables of signing keys and failed attempts."""

from django.apps import AppConfig


class TokensConfig(AppConfig):
    name = "onlooker.console.tokens"
    label = "tokens"
