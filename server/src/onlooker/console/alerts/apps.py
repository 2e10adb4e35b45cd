"""The Django app that owns the tables of silent streams and blind cameras."""

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "onlooker.console.alerts"
    label = "alerts"
