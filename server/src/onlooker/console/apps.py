"""The Django app of what all pages share: layout, stylesheet, small scripts."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "onlooker.console"
    label = "console"
