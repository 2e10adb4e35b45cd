"""The Django app that owns the tables of jobs and blobs."""

from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "onlooker.gateway"
    label = "gateway"
