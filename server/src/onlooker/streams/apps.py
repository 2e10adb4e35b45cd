"""The Django app that owns the tables of streams."""

from django.apps import AppConfig


class StreamsConfig(AppConfig):
    name = "onlooker.streams"
    label = "streams"
