"""The Django app that owns the tables of visits."""

from django.apps import AppConfig


class VisitsConfig(AppConfig):
    name = "onlooker.visits"
    label = "visits"
