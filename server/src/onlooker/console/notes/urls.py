"""Addresses of notes."""

from django.urls import path

from onlooker.console.notes import pages

_ONE = "organisations/<int:organisation_id>/"

urlpatterns = [
    path("streams/<uuid:client_id>/notes/new/", pages.create_stream_note, name="stream-note-new"),
    path(f"{_ONE}sites/<int:site_id>/notes/new/", pages.create_site_note, name="site-note-new"),
    path(f"{_ONE}notes/", pages.show_notes, name="notes"),
    path(f"{_ONE}notes/new/", pages.create_organisation_note, name="note-new"),
    path(f"{_ONE}notes/<int:note_id>/", pages.change_note, name="note"),
    path(f"{_ONE}notes/<int:note_id>/remove/", pages.remove_note, name="note-remove"),
]
