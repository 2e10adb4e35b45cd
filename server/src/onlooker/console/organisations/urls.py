"""URLs of organisations, their members, their sites and their keys."""

from django.urls import path

from onlooker.console.devices import shared_settings
from onlooker.console.organisations import audit_log, key_pages, page, people, sites

_ONE = "<int:organisation_id>/"

urlpatterns = [
    path("", page.show_organisations, name="organisations"),
    path(_ONE, page.show_organisation, name="organisation"),
    path(f"{_ONE}settings/", page.change_organisation, name="organisation-settings"),
    path(f"{_ONE}remove/", page.show_organisation_removal, name="organisation-remove"),
    path(f"{_ONE}leave/", people.leave_organisation, name="organisation-leave"),
    path(f"{_ONE}audit/", audit_log.show_organisation_log, name="organisation-audit"),
    path(f"{_ONE}audit/file/", audit_log.download_organisation_log, name="organisation-audit-file"),
    path(f"{_ONE}keys/", key_pages.list_keys, name="organisation-keys"),
    path(f"{_ONE}keys/new/", key_pages.create_organisation_key, name="key-new"),
    path(f"{_ONE}keys/<int:key_id>/revoke/", key_pages.revoke_organisation_key, name="key-revoke"),
    path(f"{_ONE}members/<int:membership_id>/", people.change_membership, name="member"),
    path(f"{_ONE}members/<int:membership_id>/remove/", people.remove_membership, name="member-remove"),
    path(f"{_ONE}sites/new/", sites.create_site, name="site-new"),
    path(f"{_ONE}sites/<int:site_id>/", sites.change_site, name="site"),
    path(f"{_ONE}sites/<int:site_id>/devices/", shared_settings.change_site_settings, name="site-devices"),
    path(f"{_ONE}sites/<int:site_id>/remove/", sites.remove_site, name="site-remove"),
]
