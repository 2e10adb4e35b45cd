"""The Django app that owns the tables of webhooks."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "onlooker.webhooks"
    label = "webhooks"
