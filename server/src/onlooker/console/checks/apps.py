"""The Django app that owns the table of camera checks."""

from django.apps import AppConfig


class ChecksConfig(AppConfig):
    name = "onlooker.console.checks"
    label = "checks"
