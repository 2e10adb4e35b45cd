"""The Django app that owns the tables of shared links and mailed reports."""

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "onlooker.console.reports"
    label = "reports"
