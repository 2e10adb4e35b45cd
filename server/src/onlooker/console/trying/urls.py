"""Addresses for trying a stream out."""

from django.urls import path

from onlooker.console.trying.page import give_trial_token, show_trial

urlpatterns = [
    path("<uuid:client_id>/try/", show_trial, name="stream-try"),
    path("<uuid:client_id>/try/token/", give_trial_token, name="stream-try-token"),
]
