"""The Django app of what all pages share: layout, stylesheet, scripts."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "onlooker.console"
    label = "console"
