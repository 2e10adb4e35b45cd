"""Addresses of the pages of streams."""

from django.urls import path

from onlooker.console.streams.audit_log import download_audit_log, show_audit_log
from onlooker.console.streams.bulk_page import show_bulk_change
from onlooker.console.streams.erasure import show_erasure
from onlooker.console.streams.lifecycle import show_creation, show_removal, show_settings
from onlooker.console.streams.page import show_stream
from onlooker.console.streams.passwords import rotate_password
from onlooker.console.streams.trial import give_trial_token, show_trial

urlpatterns = [
    path("new/", show_creation, name="stream-new"),
    path("change/", show_bulk_change, name="streams-change"),
    path("<uuid:client_id>/", show_stream, name="stream"),
    path("<uuid:client_id>/settings/", show_settings, name="stream-settings"),
    path("<uuid:client_id>/rotate/", rotate_password, name="stream-rotate"),
    path("<uuid:client_id>/remove/", show_removal, name="stream-remove"),
    path("<uuid:client_id>/audit/", show_audit_log, name="stream-audit"),
    path("<uuid:client_id>/audit/file/", download_audit_log, name="stream-audit-file"),
    path("<uuid:client_id>/erase/", show_erasure, name="stream-erase"),
    path("<uuid:client_id>/try/", show_trial, name="stream-try"),
    path("<uuid:client_id>/try/token/", give_trial_token, name="stream-try-token"),
]
