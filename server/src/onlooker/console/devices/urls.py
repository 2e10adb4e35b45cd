"""Addresses of the pages of devices, and of what devices ask for."""

from django.urls import path

from onlooker.console.devices import (
    agent_requests,
    configuration_requests,
    device_page,
    fleet_page,
    pages,
    settings_change,
    shared_settings,
)

urlpatterns = [
    path("", pages.list_devices, name="devices"),
    path("fleet/", fleet_page.show_fleet, name="devices-fleet"),
    path("change/", settings_change.change_devices, name="devices-change"),
    path("codes/new/", pages.create_device_code, name="device-code-new"),
    path("codes/<int:code_id>/end/", pages.end_device_code, name="device-code-end"),
    path("templates/new/", pages.create_device_template, name="device-template-new"),
    path("templates/<int:template_id>/", shared_settings.change_template_settings, name="device-template"),
    path("templates/<int:template_id>/remove/", pages.remove_device_template, name="device-template-remove"),
    path("<uuid:device_id>/", device_page.show_device, name="device"),
    path("<uuid:device_id>/settings/", device_page.change_device, name="device-settings"),
    path("<uuid:device_id>/again/", device_page.offer_version_again, name="device-again"),
    path("<uuid:device_id>/revoke/", pages.show_revocation, name="device-revoke"),
    path("<uuid:device_id>/replace/", pages.show_replacement, name="device-replace"),
    path("enrol/", agent_requests.enrol, name="device-enrol"),
    path("credential/", agent_requests.renew, name="device-credential"),
    path("configuration/", configuration_requests.show_configuration, name="device-configuration"),
    path("health/", configuration_requests.take_health, name="device-health"),
]
