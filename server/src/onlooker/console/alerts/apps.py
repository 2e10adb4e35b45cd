"""The Django app that owns the table of silent streams."""

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "onlooker.console.alerts"
    label = "alerts"
