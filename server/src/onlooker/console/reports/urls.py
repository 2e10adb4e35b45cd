"""Addresses of shared links: their pages, and what they show."""

from django.urls import path

from onlooker.console.reports import link_pages, public_page

_ALL = "organisations/<int:organisation_id>/links/"

urlpatterns = [
    path("streams/<uuid:client_id>/links/new/", link_pages.create_stream_link, name="stream-link-new"),
    path(_ALL, link_pages.list_links, name="shared-links"),
    path(f"{_ALL}new/", link_pages.create_group_link, name="shared-link-new"),
    path(f"{_ALL}<int:link_id>/revoke/", link_pages.revoke_shared_link, name="shared-link-revoke"),
    path("shared/<slug:token>/", public_page.show_shared, name="shared"),
]
