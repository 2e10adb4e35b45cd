"""The Django app that owns the tables of silences."""

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "onlooker.console.alerts"
    label = "alerts"
