"""Addresses of the pages of webhooks."""

from django.urls import path

from onlooker.console.webhooks import pages

_ALL = "<int:organisation_id>/webhooks/"
_ONE = f"{_ALL}<int:endpoint_id>/"

urlpatterns = [
    path(_ALL, pages.list_endpoints, name="webhooks"),
    path(f"{_ALL}new/", pages.create_endpoint, name="webhook-new"),
    path(_ONE, pages.show_endpoint, name="webhook"),
    path(f"{_ONE}test/", pages.send_test_event, name="webhook-test"),
    path(f"{_ONE}secret/", pages.replace_endpoint_secret, name="webhook-secret"),
    path(f"{_ONE}switch/", pages.switch_endpoint, name="webhook-switch"),
    path(f"{_ONE}remove/", pages.remove_endpoint, name="webhook-remove"),
    path(f"{_ONE}deliveries/<int:delivery_id>/replay/", pages.replay_delivery, name="webhook-replay"),
]
