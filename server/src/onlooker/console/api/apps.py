"""The Django app that owns the table of idempotent requests."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "onlooker.console.api"
    label = "api"
