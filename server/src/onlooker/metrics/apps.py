"""The Django app that owns the tables of metrics."""

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "onlooker.metrics"
    label = "metrics"
