"""The Django app that owns the tables of keys."""

from django.apps import AppConfig


class KeysConfig(AppConfig):
    name = "onlooker.keys"
    label = "keys"
