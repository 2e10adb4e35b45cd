"""The Django app that owns the tables of notices."""

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "onlooker.console.notices"
    label = "notices"
