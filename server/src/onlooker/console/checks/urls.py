"""Addresses of camera checks."""

from django.urls import path

from onlooker.console.checks.views import begin_check, end_check, show_check

urlpatterns = [
    path("<uuid:client_id>/check/", show_check, name="camera-check"),
    path("<uuid:client_id>/check/begin/", begin_check, name="camera-check-begin"),
    path("<uuid:client_id>/check/<int:check_id>/end/", end_check, name="camera-check-end"),
]
