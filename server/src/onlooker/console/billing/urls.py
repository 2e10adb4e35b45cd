"""Addresses of this part of the console."""

from django.urls import path

from onlooker.console.billing import pages, webhook

urlpatterns = [
    path("", pages.show_billing, name="billing"),
    path("card/", pages.change_card, name="billing-card"),
    path("done/", pages.come_back, name="billing-done"),
    path("webhook/", webhook.take_event, name="billing-webhook"),
    path("<uuid:client_id>/upgrade/", pages.upgrade, name="billing-upgrade"),
    path("<uuid:client_id>/cancel/", pages.cancel, name="billing-cancel"),
]
