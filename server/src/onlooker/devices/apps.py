"""The Django app that owns the tables of devices."""

from django.apps import AppConfig


class DevicesConfig(AppConfig):
    name = "onlooker.devices"
    label = "devices"
