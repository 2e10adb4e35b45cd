"""Addresses of the pages of streams."""

from django.urls import path

from onlooker.console.streams.changes import change_stream
from onlooker.console.streams.creation import make_stream
from onlooker.console.streams.listing import show_streams
from onlooker.console.streams.page import show_connection, show_stream
from onlooker.console.streams.removal import show_removal
from onlooker.console.streams.rotation import rotate_password

urlpatterns = [
    path("", show_streams, name="streams"),
    path("new/", make_stream, name="stream-new"),
    path("<uuid:client_id>/", show_stream, name="stream"),
    path("<uuid:client_id>/connection/", show_connection, name="stream-connection"),
    path("<uuid:client_id>/settings/", change_stream, name="stream-settings"),
    path("<uuid:client_id>/rotate/", rotate_password, name="stream-rotate"),
    path("<uuid:client_id>/remove/", show_removal, name="stream-remove"),
]
