"""URLs of billing."""

from django.urls import path

from onlooker.console.billing import views, webhook

urlpatterns = [
    path("", views.show_billing, name="billing"),
    path("card/", views.change_card, name="billing-card"),
    path("done/", views.return_from_checkout, name="billing-done"),
    path("webhook/", webhook.receive_event, name="billing-webhook"),
    path("<uuid:client_id>/upgrade/", views.upgrade, name="billing-upgrade"),
    path("<uuid:client_id>/cancel/", views.cancel, name="billing-cancel"),
]
